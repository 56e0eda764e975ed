import DocumentModel
import JSONRPC
import StrictJSON

extension JSONSchema {
    /// A document as calls and watch streams give it.
    static var document: JSONSchema {
        .component("Document", of: EncodedDocument.self) {
            .object([
                .init("path", DocumentPath.schema, "Where the document is."),
                .init("fields", MapValue.schema, "What it holds, names in the order of their bytes."),
                .init("createTime", Timestamp.schema, "The commit time of the write that created it."),
                .init("updateTime", Timestamp.schema, "The commit time of the last write that changed it."),
            ])
        }
    }

    /// A change as watch streams and polls tell it.
    static var change: JSONSchema {
        .component("Change", of: WatchFrame.Change.self) {
            .object([
                .init(
                    "type",
                    .string(values: ["added", "modified", "removed", "deleted"]),
                    "What has become of the document: removed is still there, but not in what is watched."
                ),
                .init("seq", .integer(minimum: 1), "The sequence number of the commit."),
                .init("time", Timestamp.schema, "The commit's time."),
                .init("document", .document, "The document; absent when it left, or only paths are wanted.", isRequired: false),
                .init("path", DocumentPath.schema, "Where the document is, in place of it.", isRequired: false),
                .init("before", .document, "The document as it was; absent unless wanted.", isRequired: false),
                .init("oldIndex", .integer(minimum: 0), "Where in an ordered result it was.", isRequired: false),
                .init("newIndex", .integer(minimum: 0), "Where in an ordered result it is.", isRequired: false),
                .init("n", .integer(minimum: 1), "Its number among the changes of the commit."),
                .init("of", .integer(minimum: 1), "How many changes of the commit there are."),
                .init("token", .string(), "On the last of the commit's changes: goes on after them.", isRequired: false),
            ])
        }
    }

    /// What a commit made of a document.
    static var documentVersion: JSONSchema {
        .object([
            .init("commitTime", Timestamp.schema, "The commit's time."),
            .init("document", .document, "The document; absent when the commit deleted it.", isRequired: false),
            .init(
                "author",
                .string(),
                "The ID of the key that the commit came with; absent when there was none, and when the commit is not kept any more.",
                isRequired: false
            ),
        ])
    }

    /// How many documents there are, and how large they are.
    static var collectionSize: JSONSchema {
        .object([
            .init("documentCount", .integer(minimum: 0), "How many documents there are. Those that can't be read don't count."),
            .init("bytes", .integer(minimum: 0), "Their sizes together, by Firestore's formula for the size of a document."),
        ])
    }

    /// A document that was asked for and does not exist.
    static var missingDocument: JSONSchema {
        .object([.init("path", DocumentPath.schema, "Where there is no document.")])
    }

    /// What came of one write.
    static var writeResult: JSONSchema {
        .component("WriteResult", of: WriteResult.self) {
            .object([
                .init(
                    "updateTime",
                    Timestamp.schema,
                    "The document's update time after the write; absent when the write deleted it.",
                    isRequired: false
                ),
                .init(
                    "transformResults",
                    .array(of: Value.schema),
                    "The fields' new values, one for each transform; absent without transforms.",
                    isRequired: false
                ),
            ])
        }
    }

    /// What came of one write that failed among others that did not.
    static var failedWrite: JSONSchema {
        .object([
            .init(
                "error",
                .object([
                    .init("code", .integer(), "The number of the status."),
                    .init("message", .string(), "What was wrong, and what to do."),
                    .init("data", .map(of: .any), "The status by name, and the document and field concerned."),
                ]),
                "Why it failed, as the error of a call of its own would say it."
            )
        ])
    }

    /// Something that is on disk among documents and collections and can't be read as one.
    static var damagedDocument: JSONSchema {
        .component("DamagedDocument", of: DamagedDocument.self) {
            .object([
                .init("message", .string(), "What is wrong."),
                .init(
                    "path",
                    .string(),
                    "The document it should be, or what it lies in, as far as that is known.",
                    isRequired: false
                ),
                .init(
                    "file",
                    .object([
                        .init("path", .string(), "The file or folder, relative to the data folder."),
                        .init(
                            "line",
                            .integer(minimum: 1),
                            "The line of the fault; absent where the file or folder itself is the fault.",
                            isRequired: false
                        ),
                        .init(
                            "column",
                            .integer(minimum: 1),
                            "The column of the fault; absent as the line is.",
                            isRequired: false
                        ),
                    ]),
                    "Where the fault is.",
                    isRequired: false
                ),
            ])
        }
    }

    /// A page of a list.
    static func page(of name: UTF8Key, _ element: JSONSchema, _ description: String, _ more: Property...) -> JSONSchema {
        .object(
            [
                .init(name, .array(of: element), description),
                .init("nextPageToken", PageToken.schema, "Gives the next page; absent on the last one.", isRequired: false),
            ] + more
        )
    }
}

extension JSONSchema.Property {
    /// What lies among the entries of a page and can't be read.
    static func damaged(_ description: String) -> JSONSchema.Property {
        .init("damaged", .array(of: .damagedDocument), description, isRequired: false)
    }
}
