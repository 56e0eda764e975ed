import FirestoreAPI
import FirestoreProto
import SwiftProtobuf
import UTF8Text

extension ExplainMode {
    init(_ message: ProtoExplainOptions) {
        self = message.analyze ? .analyze : .plan
    }
}

extension ProtoExplainMetrics {
    init(_ metrics: ExplainMetrics) {
        self.init()
        planSummary.indexesUsed = metrics.plan.map { step in
            Google_Protobuf_Struct(fields: ["step": Google_Protobuf_Value(stringValue: step)])
        }
        guard let statistics = metrics.statistics else { return }
        executionStats.resultsReturned = Int64(statistics.resultCount)
        let (seconds, attoseconds) = statistics.duration.components
        executionStats.executionDuration = Google_Protobuf_Duration(
            seconds: seconds,
            nanos: Int32(attoseconds / 1_000_000_000)
        )
        executionStats.readOperations = Int64(statistics.documentsRead)
        for (name, value) in statistics.debugStatistics {
            executionStats.debugStats.fields[name.string] = Google_Protobuf_Value(stringValue: value)
        }
    }
}
