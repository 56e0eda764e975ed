import DocumentModel

/// A file that can't be read as a document, with the error and its position.
struct DamagedFileView: Sendable {
    /// The location in the data folder; nil when the error has none.
    private let file: StatusError.FileLocation?
    private let location: String
    /// The path of the document or collection.
    private let path: String?
    private let message: DisplayText

    init(_ error: StatusError) {
        file = error.file
        path = error.path
        location = Self.location(of: error)
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

extension DamagedFileView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "location": DisplayText(location)
        case "url": (path.flatMap { try? DocumentPath($0) }.map { AdminURL.document($0) }).orAbsent
        case "file": (file.map { DisplayText($0.path) }).orAbsent
        case "line": (file?.line).orAbsent
        case "column": (file?.column).orAbsent
        case "message": message
        default: nil
        }
    }
}
