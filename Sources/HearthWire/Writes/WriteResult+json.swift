package import DocumentModel
package import StrictJSON
package import UTF8Text

/// The members of the result of a write.
package enum WriteResultKeys {
    package static let updateTime: UTF8Key = "updateTime"
    package static let transformResults: UTF8Key = "transformResults"
}

extension WriteResult {
    /// Writes `{"updateTime"?: …, "transformResults"?: […]}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        if let updateTime { writer.member(WriteResultKeys.updateTime, updateTime.rfc3339) }
        if !transformResults.isEmpty {
            writer.array(WriteResultKeys.transformResults, of: transformResults) { $0.write(to: &$1) }
        }
        writer.endObject()
    }

    /// Parses the result of a write.
    ///
    /// - Throws: The error of an invalid member.
    package init(json: JSONNode) throws(StatusError) {
        let hasTransforms = json[WriteResultKeys.transformResults] != nil
        let transformResults = hasTransforms ? try json.array(WriteResultKeys.transformResults) : []
        self.init(
            updateTime: try json.time(WriteResultKeys.updateTime),
            transformResults: try transformResults.map { json throws(StatusError) in try Value(json: json) }
        )
    }
}
