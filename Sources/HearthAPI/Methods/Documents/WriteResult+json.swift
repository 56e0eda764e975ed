import DocumentModel
import JSONRPC
import StrictJSON
import UTF8Text

extension WriteResult {
    /// Writes `{"updateTime"?: …, "transformResults"?: […]}`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        if let updateTime {
            writer.key("updateTime")
            writer.string(updateTime.rfc3339)
        }
        if !transformResults.isEmpty {
            writer.key("transformResults")
            writer.beginArray()
            for value in transformResults {
                value.write(to: &writer)
            }
            writer.endArray()
        }
        writer.endObject()
    }
}

extension JSONSchema {
    /// The schema of a write result.
    static var writeResult: JSONSchema {
        .component("WriteResult", of: WriteResult.self) {
            .object([
                .init(
                    "updateTime",
                    Timestamp.schema,
                    "The update time of the document after the write; absent if the write deleted it.",
                    isRequired: false
                ),
                .init(
                    "transformResults",
                    .array(of: Value.schema),
                    "The new values of the transformed fields, one per transform; absent without transforms.",
                    isRequired: false
                ),
            ])
        }
    }

    /// The schema of a failed write.
    static var failedWrite: JSONSchema {
        .object([
            .init(
                "error",
                .object([
                    .init("code", .integer(), "The status code."),
                    .init("message", .string(), "The problem, and what to do about it."),
                    .init("data", .map(of: .any), "The status name, and the document and field concerned."),
                ]),
                "The error, as for a call with this write only."
            )
        ])
    }
}
