package import DocumentModel
import JSONRPC
package import StrictJSON
import UTF8Text

/// A file or folder that cannot be read as a document or collection. It is left untouched and reported in lists and query
/// results.
package struct DamagedDocument: Sendable {
    /// The problem, and the file or folder concerned.
    package let error: StatusError

    /// Writes `{"message": …, "path"?: …, "file"?: {path, line?, column?}}`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writeMembers(to: &writer)
        writer.endObject()
    }

    /// Writes the object's members, for an object with further ones.
    package func writeMembers(to writer: inout JSONWriter) {
        writer.key("message")
        writer.string(error.message)
        if let path = error.path {
            writer.key("path")
            writer.string(path)
        }
        if let file = error.file {
            writer.key("file")
            writer.beginObject()
            writer.key("path")
            writer.string(file.path)
            if let line = file.line, let column = file.column {
                writer.key("line")
                writer.integer(Int64(line))
                writer.key("column")
                writer.integer(Int64(column))
            }
            writer.endObject()
        }
    }
}

extension JSONWriter {
    /// Writes the `damaged` member of a page unless it is empty.
    mutating func damaged(_ documents: [DamagedDocument]) {
        guard !documents.isEmpty else { return }
        key("damaged")
        beginArray()
        for document in documents { document.write(to: &self) }
        endArray()
    }
}

extension JSONSchema {
    /// The schema of a damaged document.
    static var damagedDocument: JSONSchema {
        .component("DamagedDocument", of: DamagedDocument.self) {
            .object([
                .init("message", .string(), "The problem."),
                .init(
                    "path",
                    .string(),
                    "The path of the document or its parent, as far as it is known.",
                    isRequired: false
                ),
                .init(
                    "file",
                    .object([
                        .init("path", .string(), "The file or folder, relative to the data folder."),
                        .init(
                            "line",
                            .integer(minimum: 1),
                            "The line of the error; absent if it concerns the file or folder as a whole.",
                            isRequired: false
                        ),
                        .init(
                            "column",
                            .integer(minimum: 1),
                            "The column of the error; absent if the line is.",
                            isRequired: false
                        ),
                    ]),
                    "The location of the error.",
                    isRequired: false
                ),
            ])
        }
    }
}

extension JSONSchema.Property {
    /// Returns the `damaged` member of a page.
    static func damaged(_ description: String) -> JSONSchema.Property {
        .init("damaged", .array(of: .damagedDocument), description, isRequired: false)
    }
}
