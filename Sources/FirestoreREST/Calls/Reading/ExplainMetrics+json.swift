import DocumentModel
import FirestoreAPI
import FirestoreMessages
import StrictJSON

extension ProtoMessage {
    private static let explainFields: [ProtoField] = ["analyze"]

    /// Decodes `explainOptions`, or returns `nil` if they are absent.
    func explainMode() throws(StatusError) -> ExplainMode? {
        try read("explainOptions") { node throws(StatusError) in
            let analyze = try ProtoMessage(node, fields: Self.explainFields).read("analyze") { node throws(StatusError) in
                try node.booleanField()
            }
            return analyze == true ? .analyze : .plan
        }
    }
}

extension JSONWriter {
    /// Writes the member `explainMetrics`. Integers and durations are strings, as in all ProtoJSON.
    mutating func write(_ metrics: ExplainMetrics) {
        key("explainMetrics")
        beginObject()
        key("planSummary")
        beginObject()
        key("indexesUsed")
        beginArray()
        for step in metrics.plan {
            beginObject()
            key("step")
            string(step)
            endObject()
        }
        endArray()
        endObject()
        if let statistics = metrics.statistics {
            key("executionStats")
            beginObject()
            key("resultsReturned")
            string(String(statistics.resultCount))
            key("executionDuration")
            string(statistics.duration.protoJSON)
            key("readOperations")
            string(String(statistics.documentsRead))
            key("debugStats")
            beginObject()
            for (name, value) in statistics.debugStatistics {
                key(name)
                string(value)
            }
            endObject()
            endObject()
        }
        endObject()
    }
}

extension Duration {
    /// The duration in seconds, with nine fractional digits: `0.001500000s`.
    fileprivate var protoJSON: String {
        let (seconds, attoseconds) = components
        let nanoseconds = String(attoseconds / 1_000_000_000)
        return "\(seconds)." + String(repeating: "0", count: 9 - nanoseconds.utf8.count) + nanoseconds + "s"
    }
}
