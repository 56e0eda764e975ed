import DocumentModel

/// A file that lies among the documents and can't be read as one.
struct DamagedFile: Sendable {
    /// The file in the data folder; nil when the error knows none.
    private let file: StatusError.FileLocation?
    private let place: String
    /// What it should be: a document, or something in a collection.
    private let path: String?
    private let message: DisplayText

    init(_ error: StatusError) {
        file = error.file
        path = error.path
        place = Self.place(of: error)
        message = DisplayText(error.message)
    }
}

extension DamagedFile {
    /// The file that an error is about, and the place in it where there is one, as editors and compilers write it.
    static func place(of error: StatusError) -> String {
        guard let file = error.file else { return error.path ?? "" }
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
