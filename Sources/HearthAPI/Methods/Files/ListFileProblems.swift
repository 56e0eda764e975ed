package import DocumentModel
package import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `files.problems`: lists the edits of files that have not become commits.
package enum ListFileProblems: RPCMethod {
    private static let pageSize = Parameter<PageSize?>(
        ListParameterKeys.pageSize,
        "The maximum number of problems."
    )

    package static let name: UTF8Key = "files.problems"
    package static let summary = """
        Lists the edits of files that have not become commits and need a person, in the order of their files: edits that are no \
        documents, edits of fields that have changed since, document files that cannot be read, too many removed files, edits that \
        cannot be taken at present, and what is neither a document nor a folder of documents.
        """
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = [pageSize]
    package static let result = ResultDescription(
        "result",
        .object([
            .init(
                "problems",
                .array(
                    of: .object([
                        .init(
                            "kind",
                            .string(values: FileProblem.Kind.allCases.map(\.rawValue)),
                            "rejected: the edit is no document; conflict: its fields have changed since; damaged: the document cannot be "
                                + "read, and has no earlier version; removed: too many files were removed at once; waiting: the edit "
                                + "cannot become a commit at present, and is tried again; foreign: neither a document nor a folder of "
                                + "documents."
                        ),
                        .init("file", .string(), "The path of the file, in the data folder."),
                        .init("line", .integer(minimum: 1), "The line of the fault; absent if there is none.", isRequired: false),
                        .init("column", .integer(minimum: 1), "The column of the fault, in characters.", isRequired: false),
                        .init("document", .string(), "The path of the document; absent if it is not known.", isRequired: false),
                        .init("time", Timestamp.schema, "The modification time of the file.", isRequired: false),
                        .init("message", .string(), "What is wrong, and what to do."),
                    ])
                ),
                "The first problems."
            ),
            .init("count", .integer(minimum: 0), "The number of all problems."),
        ]),
        "The problems."
    )
    package static let errors = [
        ErrorDescription(status: .unavailable, "The folder cannot currently be read.")
    ]
    package static let examples = [
        RPCExample(
            "a file that is no document",
            params: "{}",
            result: #"""
                {
                    "problems": [
                        {
                            "kind": "rejected",
                            "file": "documents/books/hitchhiker.json.rejected",
                            "line": 4,
                            "column": 3,
                            "document": "books/hitchhiker",
                            "time": "2026-11-29T10:15:00.000000Z",
                            "message": "The file is not valid JSON: expected a comma. To use it, rename it once it is correct."
                        }
                    ],
                    "count": 1
                }
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> PageSize {
        try arguments[pageSize] ?? .standard
    }

    package static func call(_ pageSize: PageSize, in context: ServiceContext) async throws(StatusError) -> FileProblemReport {
        try context.caller.requireAccessToDatabase()
        let limit = min(pageSize.count, context.server.limits.maximumPageSize)
        return try await context.store.localFiles?.problems(limit: limit) ?? FileProblemReport()
    }

    package static func write(_ result: FileProblemReport, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.array("problems", of: result.problems) { problem, writer in
            writer.beginObject()
            writer.member("kind", problem.kind.rawValue)
            writer.member("file", problem.file.path)
            if let line = problem.file.line { writer.member("line", line) }
            if let column = problem.file.column { writer.member("column", column) }
            if let document = problem.document { writer.member("document", document.string) }
            if let time = problem.time { writer.member("time", time.rfc3339) }
            writer.member("message", problem.message)
            writer.endObject()
        }
        writer.member("count", result.count)
        writer.endObject()
    }
}
