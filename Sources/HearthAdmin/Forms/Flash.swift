import DocumentModel
import HearthService
import StrictJSON

/// What the page after a form says of what was done.
///
/// It travels in a cookie that the next page takes away: a code of a closed set, and at most a time or a number. So the address of the
/// page stays its own, no link can make a page say something, and nothing foreign is shown.
enum Flash: Hashable, Sendable {
    case saved(Undo?)
    case unchanged
    case created
    case deleted(Undo?)
    case restored(Undo?)
    case deletedMany(Int)
    case imported(Int)
    case signedIn
    case signedOut
    case sessionEnded
    case keyRevoked
    case indexChanged

    /// How what was done to a document is undone.
    struct Undo: Hashable, Sendable {
        /// The time of the version that there was before.
        let version: Timestamp
        /// The time of the version that there is now; nil when the document was deleted.
        let current: Timestamp?
    }

    private static let name: UTF8Key = "flash"

    /// Takes it from the cookies of a request.
    init?(in cookies: Cookies) {
        guard let text = cookies[Self.name] else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "."))
        let numbers = parts.dropFirst().map { Int64(Substring($0)) ?? 0 }
        let times = numbers.compactMap { try? Timestamp(microseconds: $0) }
        let undo = times.first.map { Undo(version: $0, current: times.dropFirst().first) }
        switch parts.first.map({ UTF8Key(Substring($0)) }) {
        case "saved": self = .saved(undo)
        case "unchanged": self = .unchanged
        case "created": self = .created
        case "deleted": self = .deleted(undo)
        case "restored": self = .restored(undo)
        case "deleted-many": self = .deletedMany(Int(max(0, numbers.first ?? 0)))
        case "imported": self = .imported(Int(max(0, numbers.first ?? 0)))
        case "signed-in": self = .signedIn
        case "signed-out": self = .signedOut
        case "session-ended": self = .sessionEnded
        case "key-revoked": self = .keyRevoked
        case "index-changed": self = .indexChanged
        default: return nil
        }
    }

    /// What a response sets to have the next page say it.
    var cookie: String { "\(Self.name)=\(text)\(Self.attributes)" }

    /// What a response sets so that it is said once.
    static let removal = "\(name)=; Max-Age=0\(attributes)"

    private static let attributes = "; Path=/; HttpOnly; SameSite=Lax"

    private var text: String {
        switch self {
        case .saved(let undo): Self.text("saved", undo)
        case .unchanged: "unchanged"
        case .created: "created"
        case .deleted(let undo): Self.text("deleted", undo)
        case .restored(let undo): Self.text("restored", undo)
        case .deletedMany(let count): "deleted-many.\(count)"
        case .imported(let count): "imported.\(count)"
        case .signedIn: "signed-in"
        case .signedOut: "signed-out"
        case .sessionEnded: "session-ended"
        case .keyRevoked: "key-revoked"
        case .indexChanged: "index-changed"
        }
    }

    private static func text(_ code: String, _ undo: Undo?) -> String {
        ([code] + [undo?.version, undo?.current].compactMap { $0.map { String($0.microseconds) } }).joined(separator: ".")
    }
}

extension Flash {
    /// What it says.
    var message: String {
        switch self {
        case .saved: localized("Saved.")
        case .unchanged: localized("Nothing was changed, so nothing was saved.")
        case .created: localized("Created.")
        case .deleted: localized("Deleted.")
        case .restored: localized("Restored.")
        case .deletedMany(let count):
            localized(count: count, one: "{count} document was deleted.", other: "{count} documents were deleted.")
        case .imported(let count):
            localized(count: count, one: "{count} document was imported.", other: "{count} documents were imported.")
        case .signedIn: localized("You are signed in.")
        case .signedOut: localized("You are signed out.")
        case .sessionEnded: localized("The session is ended.")
        case .keyRevoked: localized("The key is revoked, and its sessions and streams are ended.")
        case .indexChanged: localized("Done. The index is brought up to date in the background.")
        }
    }

    /// How what was done is undone; nil where it can't be.
    var undo: Undo? {
        switch self {
        case .saved(let undo), .deleted(let undo), .restored(let undo): undo
        default: nil
        }
    }
}
