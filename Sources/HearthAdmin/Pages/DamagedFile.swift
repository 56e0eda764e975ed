import DocumentModel

/// A file that lies among the documents and can't be read as one.
struct DamagedFile: Sendable {
    /// The file in the data folder; nil when the error knows none.
    private let file: StatusError.FileLocation?
    /// What it should be: a document, or something in a collection.
    private let path: String?
    private let message: DisplayText

    init(_ error: StatusError) {
        file = error.file
        path = error.path
        message = DisplayText(error.message)
    }
}

extension DamagedFile {
    /// The file, and the place in it where there is one, as editors and compilers write it.
    private var place: String {
        guard let file else { return path ?? "" }
        guard let line = file.line, let column = file.column else { return file.path }
        return "\(file.path):\(line):\(column)"
    }
}

extension DamagedFile: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "place": DisplayText(place)
        case "url": (path.flatMap { try? DocumentPath($0) }.map { AdminURL.document($0) }).orAbsent
        case "file": (file.map { DisplayText($0.path) }).orAbsent
        case "line": (file?.line).orAbsent
        case "column": (file?.column).orAbsent
        case "message": message
        default: nil
        }
    }
}
