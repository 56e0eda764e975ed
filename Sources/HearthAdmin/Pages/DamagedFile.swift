import DocumentModel

/// A file that lies among the documents and can't be read as one.
struct DamagedFile: Sendable {
    let place: DisplayText
    let message: DisplayText

    init(_ error: StatusError) {
        let file = error.file.map { "\($0.path):\($0.line):\($0.column)" }
        place = DisplayText(file ?? error.path ?? "")
        message = DisplayText(error.message)
    }
}

extension DamagedFile: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "place": place
        case "message": message
        default: nil
        }
    }
}
