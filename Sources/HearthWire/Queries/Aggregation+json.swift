package import DocumentModel
package import StrictJSON
import UTF8Text

/// The parameter with the aggregations of a query.
package enum AggregationQueryKeys {
    package static let aggregations: WireKey = "aggregations"
}

/// The members of an aggregation: one operation, and the name of its result.
package enum AggregationKeys {
    package static let count: WireKey = "count"
    package static let sum: WireKey = "sum"
    package static let average: WireKey = "average"
    package static let alias: WireKey = "alias"
}

/// The members of a count: `{"upTo"?}`.
package enum CountKeys {
    package static let upTo: WireKey = "upTo"
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
