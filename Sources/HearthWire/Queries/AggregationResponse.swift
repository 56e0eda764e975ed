package import DocumentModel
package import StrictJSON
package import UTF8Text

/// The members of the result of an aggregation query.
package enum AggregationResponseKeys {
    package static let result: UTF8Key = "result"
    package static let readTime: UTF8Key = "readTime"
}

/// The result of an aggregation query.
package struct AggregationResponse: Sendable {
    /// The results by alias.
    package let results: MapValue
    /// The point in time at which the query was run.
    package let readTime: Timestamp
    /// Errors for documents that could match but cannot be read.
    package let damaged: [StatusError]

    /// Creates a result.
    package init(results: MapValue, readTime: Timestamp, damaged: [StatusError]) {
        self.results = results
        self.readTime = readTime
        self.damaged = damaged
    }

    /// Writes `{"result": {…}, "readTime": …, "damaged"?: […]}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key(AggregationResponseKeys.result)
        results.write(to: &writer)
        writer.member(AggregationResponseKeys.readTime, readTime.rfc3339)
        writer.damaged(damaged)
        writer.endObject()
    }

    /// Parses a result.
    ///
    /// - Throws: `.internal` if a member is missing, or the error of an invalid one.
    package init(json: JSONNode) throws(StatusError) {
        guard let result = json[AggregationResponseKeys.result] else {
            throw .malformedResponse(json, expected: "an object named result")
        }
        results = try MapValue(json: result)
        readTime = try Timestamp(rfc3339: json.string(AggregationResponseKeys.readTime))
        damaged = json.damaged
    }
}
