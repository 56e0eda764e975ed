import HearthWire
import JSONRPC

extension JSONSchema {
    /// The schema of a damaged document.
    static var damagedDocument: JSONSchema {
        .component("DamagedDocument", of: DamageKeys.self) {
            .object([
                .init(DamageKeys.message, .string(), "The problem."),
                .init(
                    DamageKeys.path,
                    .string(),
                    "The path of the document or its parent, if known.",
                    isRequired: false
                ),
                .init(
                    DamageKeys.file,
                    .object([
                        .init(FileLocationKeys.path, .string(), "The file or folder, relative to the data folder."),
                        .init(
                            FileLocationKeys.line,
                            .integer(minimum: 1),
                            "The line of the error; absent if it concerns the file or folder as a whole.",
                            isRequired: false
                        ),
                        .init(
                            FileLocationKeys.column,
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
        .init(DamageKeys.damaged, .array(of: .damagedDocument), description, isRequired: false)
    }
}
