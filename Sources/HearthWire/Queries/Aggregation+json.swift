package import DocumentModel
package import StrictJSON
package import UTF8Text

/// The parameter with the aggregations of a query.
package enum AggregationQueryKeys {
    package static let aggregations: UTF8Key = "aggregations"
}

/// The members of an aggregation: one operation, and the name of its result.
package enum AggregationKeys {
    package static let count: UTF8Key = "count"
    package static let sum: UTF8Key = "sum"
    package static let average: UTF8Key = "average"
    package static let alias: UTF8Key = "alias"
}

/// The members of a count: `{"upTo"?}`.
package enum CountKeys {
    package static let upTo: UTF8Key = "upTo"
}

extension Aggregation {
    /// Writes the aggregation, such as `{"sum": "numberOfPages", "alias": "pages"}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch operation {
        case .count(let end):
            writer.key(AggregationKeys.count)
            writer.beginObject()
            if let end { writer.member(CountKeys.upTo, end) }
            writer.endObject()
        case .sum(let field): writer.member(AggregationKeys.sum, field.description)
        case .average(let field): writer.member(AggregationKeys.average, field.description)
        }
        if let alias { writer.member(AggregationKeys.alias, alias.string) }
        writer.endObject()
    }
}
