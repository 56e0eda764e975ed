import DocumentModel
import HearthWire
import JSONRPC
import StrictJSON
import UTF8Text

extension JSONSchema {
    /// The schema of a write result.
    static var writeResult: JSONSchema {
        .component("WriteResult", of: WriteResult.self) {
            .object([
                .init(
                    WriteResultKeys.updateTime,
                    Timestamp.schema,
                    "The update time of the document after the write; absent if the write deleted it.",
                    isRequired: false
                ),
                .init(
                    WriteResultKeys.transformResults,
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
                    .init(ErrorKeys.code, .integer(), "The status code."),
                    .init(ErrorKeys.message, .string(), "The error message, with advice."),
                    .init(ErrorKeys.data, .map(of: .any), "The status name, and the affected document and field."),
                ]),
                "The error that a call with only this write would return."
            )
        ])
    }
}
