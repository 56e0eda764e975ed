package import DocumentModel
import DocumentStore
import HearthWire
import StrictJSON
import UTF8Text

/// An administrative operation for the audit log: who did what to what, from where, when, and with which outcome. Never contents.
package struct AuditEvent: Sendable {
    /// The operation.
    package enum Action: String, Sendable {
        case createKey = "keys.create"
        case revokeKey = "keys.revoke"
        /// A change of the keys by a command in the data folder.
        case changeKeys = "keys.change"
        case signIn = "session.start"
        case signOut = "session.end"
        case setRules = "rules.set"
        case changeIndexes = "indexes.change"
        case createDatabase = "databases.create"
        case deleteDatabase = "databases.delete"
        case setQuota = "databases.setQuota"
        case createBackup = "backups.create"
        case restoreBackup = "backups.restore"
        case repair = "folder.repair"
        case exportDocuments = "documents.export"
        case importDocuments = "documents.import"
        case deleteDocuments = "documents.delete"
        case editDocuments = "documents.edit"
        case undoJob = "job.undo"
        case clearDatabase = "database.clear"
        case acceptRemovedFiles = "files.acceptRemoved"
        case promoteServer = "server.promote"
        case startServer = "server.start"
        case stopServer = "server.stop"
    }

    let time: Timestamp
    let action: Action
    /// The ID or path of what the operation is about.
    let target: String?
    /// The effect of the operation on it, in words of a fixed set.
    let detail: String?
    let database: DatabaseID?
    /// `OK`, or the name of the error's code.
    let outcome: String
    let caller: Caller
    let clientAddress: String?
    let requestID: String?

    /// The number of Unicode scalars to which a target is truncated, which a client may have chosen.
    private static let maximumTargetLength = 2_000

    /// Creates an event of the current request.
    ///
    /// - Parameter error: The error with which the operation failed; `nil` if it succeeded.
    package init(
        _ action: Action,
        on target: String? = nil,
        detail: String? = nil,
        in database: DatabaseID? = nil,
        by caller: Caller,
        error: StatusError? = nil
    ) {
        time = .current()
        self.action = action
        self.target = target.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(Self.maximumTargetLength))) }
        self.detail = detail
        self.database = database
        outcome = error?.code.name ?? CallMetrics.ok
        self.caller = caller
        let trace = RequestTrace.current
        clientAddress = trace?.facts.clientAddress
        requestID = trace?.requestID
    }
}

extension AuditEvent {
    /// Returns the JSON object of the event, without a line feed.
    ///
    /// - Parameters:
    ///   - number: The number of the line in the log.
    ///   - previous: The digest of the line before.
    func line(number: Int, previous: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key(AuditKeys.number)
        writer.integer(Int64(number))
        writer.member("time", time.rfc3339)
        writer.member("action", action.rawValue)
        if let target { writer.member("target", target) }
        if let detail { writer.member("detail", detail) }
        if let database { writer.member("database", database.description) }
        writer.member("outcome", outcome)
        writer.member("caller", caller.identity.auditName)
        if let id = caller.keyID { writer.member("key", id.string) }
        if let user = caller.user { writer.member("user", user.id.uid.string) }
        if let clientAddress { writer.member("address", clientAddress) }
        if let requestID { writer.member("requestId", requestID) }
        writer.member(AuditKeys.previous, previous)
        writer.endObject()
        return writer.finish()
    }
}

/// The members of a line that chain it to the one before.
enum AuditKeys {
    static let number: UTF8Key = "number"
    static let previous: UTF8Key = "previous"
}

extension Caller.Identity {
    /// The kind of the caller.
    fileprivate var auditName: String {
        switch self {
        case .system: "server"
        case .unauthenticated: "unauthenticated"
        case .openAccess: "anyone"
        case .key: "key"
        case .emulatorOwner: "emulatorOwner"
        case .endUser(.some): "user"
        case .endUser(nil): "anonymous"
        }
    }
}
