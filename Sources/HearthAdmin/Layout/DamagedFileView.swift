import DocumentModel

/// A file that cannot be read as a document, with the error and its position.
struct DamagedFileView: ViewModel {
    /// The path in the data folder; `nil` if the error has none.
    private let file: DisplayText?
    private let line: Int?
    private let column: Int?
    /// The file with line and column.
    private let location: DisplayText
    /// The page of the document.
    private let url: String?
    private let message: DisplayText

    init(_ error: StatusError) {
        file = error.file.map { DisplayText($0.path) }
        line = error.file?.line
        column = error.file?.column
        location = DisplayText(Self.location(of: error))
        url = error.path.flatMap { try? DocumentPath($0) }.map { AdminURL.document($0) }
        message = DisplayText(error.message)
    }
}

extension DamagedFileView {
    /// Returns an error's file with line and column, as compilers print it.
    static func location(of error: StatusError) -> String {
        guard let file = error.file else { return error.path ?? "" }
        guard let line = file.line, let column = file.column else { return file.path }
        return "\(file.path):\(line):\(column)"
    }
}
