import DocumentModel

/// What a page says of what was done by the form before, and the way back.
struct FlashView: Sendable {
    private let message: String
    private let undo: Flash.Undo?
    private let undoURL: String

    /// - Parameter path: The page on which it is said, which is that of the document where something can be undone.
    init(_ flash: Flash, path: String) {
        message = flash.message
        undo = flash.undo
        undoURL = path + "?restore"
    }
}

extension FlashView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "message": message
        case "canUndo": undo != nil
        case "undoURL": undoURL
        case "undoVersion": undo.map { String($0.version.microseconds) } ?? ""
        case "undoCurrent": undo?.current.map { String($0.microseconds) } ?? ""
        default: nil
        }
    }
}
