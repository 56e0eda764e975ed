import DocumentModel
import HearthHTTP
import UTF8Text

/// A flash message: the result of a form, shown once on the page after the redirect.
///
/// It is passed in a cookie that the next page deletes, as a code from a fixed set with at most two numbers, and the ID of a
/// job or the path of a document. So the URL of the page is unaffected, links cannot inject messages, and only known messages are shown.
enum Flash: Hashable, Sendable {
    case saved(Undo?)
    case unchanged
    case created
    case deleted(Undo?)
    case restored(Undo?)
    case deletedMany(Int, undo: UTF8Key?)
    case editedMany(Int, undo: UTF8Key?)
    case restoredMany(Int, undo: UTF8Key?)
    case imported(Int)
    case signedIn
    case signedOut
    case sessionEnded
    case keyRevoked
    case indexChanged
    case rulesDeployed
    case nothingSelected
    case backupStarted
    case backupVerified

    /// The parameters of the undo button.
    struct Undo: Hashable, Sendable {
        /// The update time of the version to restore.
        let version: Timestamp
        /// The update time of the current version; `nil` if the document was deleted.
        let current: Timestamp?
        /// The document, for a message on another page than its own; `nil` on its own.
        let document: DocumentPath?

        init(version: Timestamp, current: Timestamp?, document: DocumentPath? = nil) {
            self.version = version
            self.current = current
            self.document = document
        }

        /// - Parameter page: The page that shows the message; `nil` for that of the document.
        init?(version: Timestamp, current: Timestamp?, of document: DocumentPath, on page: ReturnURL?) {
            // Browsers drop a cookie that is larger than 4 KiB.
            guard page == nil || document.string.utf8.count <= 1_000 else { return nil }
            self.init(version: version, current: current, document: page == nil ? nil : document)
        }
    }

    private static let cookieName: UTF8Key = "flash"

    /// Decodes the message from the cookies of a request.
    init?(in cookies: Cookies) {
        guard let text = cookies[Self.cookieName] else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 3)
        let count = parts.dropFirst().first.flatMap { Int(Substring($0)) }.map { max(0, $0) } ?? 0
        let jobID = parts.dropFirst(2).first.map { UTF8Key(Substring($0)) }
        let numbers = parts.dropFirst().prefix(2).map { Int64(Substring($0)) ?? 0 }
        let times = numbers.compactMap { try? Timestamp(microseconds: $0) }
        let path = parts.dropFirst(3).first.flatMap { PercentEncoding.decode($0) }
        let document = path.flatMap { try? DocumentPath(String(decoding: $0, as: UTF8.self)) }
        let undo = times.first.map { Undo(version: $0, current: times.dropFirst().first, document: document) }
        switch parts.first.map({ UTF8Key(Substring($0)) }) {
        case "saved": self = .saved(undo)
        case "unchanged": self = .unchanged
        case "created": self = .created
        case "deleted": self = .deleted(undo)
        case "restored": self = .restored(undo)
        case "deleted-many": self = .deletedMany(count, undo: jobID)
        case "edited-many": self = .editedMany(count, undo: jobID)
        case "restored-many": self = .restoredMany(count, undo: jobID)
        case "imported": self = .imported(count)
        case "signed-in": self = .signedIn
        case "signed-out": self = .signedOut
        case "session-ended": self = .sessionEnded
        case "key-revoked": self = .keyRevoked
        case "index-changed": self = .indexChanged
        case "rules-deployed": self = .rulesDeployed
        case "nothing-selected": self = .nothingSelected
        case "backup-started": self = .backupStarted
        case "backup-verified": self = .backupVerified
        default: return nil
        }
    }

    /// The `Set-Cookie` value that passes the message to the next page.
    var cookie: String { "\(Self.cookieName)=\(text)\(Self.attributes)" }

    /// The `Set-Cookie` value that deletes the message.
    static let expiredCookie = "\(cookieName)=; Max-Age=0\(attributes)"

    private static let attributes = "; Path=/; HttpOnly; SameSite=Lax"

    private var text: String {
        switch self {
        case .saved(let undo): Self.text("saved", undo)
        case .unchanged: "unchanged"
        case .created: "created"
        case .deleted(let undo): Self.text("deleted", undo)
        case .restored(let undo): Self.text("restored", undo)
        case .deletedMany(let count, let undo): Self.text("deleted-many", count, undo)
        case .editedMany(let count, let undo): Self.text("edited-many", count, undo)
        case .restoredMany(let count, let undo): Self.text("restored-many", count, undo)
        case .imported(let count): "imported.\(count)"
        case .signedIn: "signed-in"
        case .signedOut: "signed-out"
        case .sessionEnded: "session-ended"
        case .keyRevoked: "key-revoked"
        case .indexChanged: "index-changed"
        case .rulesDeployed: "rules-deployed"
        case .nothingSelected: "nothing-selected"
        case .backupStarted: "backup-started"
        case .backupVerified: "backup-verified"
        }
    }

    private static func text(_ code: String, _ count: Int, _ undo: UTF8Key?) -> String {
        "\(code).\(count)" + (undo.map { ".\($0)" } ?? "")
    }

    private static func text(_ code: String, _ undo: Undo?) -> String {
        let times = [undo?.version, undo?.current].compactMap { $0.map { String($0.microseconds) } }
        let document = undo?.document.map { PercentEncoding.encode(UTF8Key($0.string)) }
        return ([code] + times + [document].compactMap(\.self)).joined(separator: ".")
    }
}

extension Flash {
    var message: String {
        switch self {
        case .saved: localized("Saved.")
        case .unchanged: localized("No changes to save.")
        case .created: localized("Created.")
        case .deleted: localized("Deleted.")
        case .restored: localized("Restored.")
        case .deletedMany(let count, _):
            localized(count: count, one: "{count} document was deleted.", other: "{count} documents were deleted.")
        case .editedMany(let count, _):
            localized(count: count, one: "{count} document was changed.", other: "{count} documents were changed.")
        case .restoredMany(let count, _):
            localized(count: count, one: "{count} document was restored.", other: "{count} documents were restored.")
        case .imported(let count):
            localized(count: count, one: "{count} document was imported.", other: "{count} documents were imported.")
        case .signedIn: localized("Signed in.")
        case .signedOut: localized("Signed out.")
        case .sessionEnded: localized("Session ended.")
        case .keyRevoked: localized("Key revoked. Its sessions and streams were closed.")
        case .indexChanged: localized("Done. The index is updated in the background.")
        case .rulesDeployed: localized("Deployed. The rules decide every next request and every open stream.")
        case .nothingSelected: localized("Select at least one document.")
        case .backupStarted: localized("The backup has been started.")
        case .backupVerified: localized("The backup was read completely. No errors.")
        }
    }

    /// The ID of the job to undo; `nil` if the message is not about a job that can be undone.
    var job: UTF8Key? {
        switch self {
        case .deletedMany(_, let undo), .editedMany(_, let undo), .restoredMany(_, let undo): undo
        default: nil
        }
    }

    /// The undo parameters; `nil` if the change cannot be undone, or is not that of one document.
    var undo: Undo? {
        switch self {
        case .saved(let undo), .deleted(let undo), .restored(let undo): undo
        default: nil
        }
    }
}

/// A flash message on a page, with an undo button when the change can be undone.
struct FlashView: ViewModel {
    private let message: String
    /// True if nothing was done.
    private let isWarning: Bool
    private let canUndo: Bool
    /// True if the button undoes a job, otherwise the change of a document.
    private let undoesJob: Bool
    private let undoURL: String
    private let undoVersion: String
    private let undoCurrent: String
    /// The page that the button returns to, if it is not that of the document.
    private let undoNext: String?

    /// - Parameters:
    ///   - path: The path of the page, which is that of the document if the change names none.
    ///   - pageURL: The page's own URL.
    init(_ flash: Flash, path: String, pageURL: String) {
        message = flash.message
        isWarning = flash == .nothingSelected
        canUndo = flash.undo != nil || flash.job != nil
        undoesJob = flash.job != nil
        undoURL = flash.job.map { AdminURL.job($0) } ?? (flash.undo?.document.map { AdminURL.document($0) } ?? path) + "?restore"
        undoNext = flash.undo?.document == nil ? nil : pageURL
        undoVersion = flash.undo?.version.formValue ?? ""
        undoCurrent = flash.undo?.current?.formValue ?? ""
    }
}
