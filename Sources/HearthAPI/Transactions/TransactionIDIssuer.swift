package import Cryptography
import DocumentModel
import UTF8Text

/// Issues the IDs of a server's transactions, and recognizes those of other servers with the same secret.
///
/// An ID is a value that nobody else can make. That of a read-only transaction says all that there is to know about it, so that any
/// server goes on with it.
///
/// It is encoded as base64url of 65 bytes: 1 for a read-only transaction, or 0; the server; 8 random bytes; the begin and, for a
/// read-only transaction, the read time, in microseconds; an authentication code of these, the database and the owner.
package struct TransactionIDIssuer: Sendable {
    /// The contents of an ID.
    struct Contents {
        let isOfThisServer: Bool
        let mode: OpenTransaction.Mode
        let startTime: Timestamp
    }

    private let secret: SymmetricKey
    /// The identity of this process.
    private let server: [UInt8]

    private static let signedBytes = 33
    private static let byteCount = signedBytes + SHA256Digest.byteCount

    /// Creates an issuer.
    ///
    /// - Parameter secret: The secret that the servers share; by default, one that no other process has.
    package init(secret: SymmetricKey = .random()) {
        self.secret = secret
        server = RandomBytes.make(8)
    }

    /// Returns a new ID.
    func makeID(
        of mode: OpenTransaction.Mode,
        at start: Timestamp,
        for owner: Caller.Identity,
        in database: String
    ) -> TransactionID {
        var bytes: [UInt8] = []
        var readTime = Timestamp.minimum
        if case .readOnly(let time) = mode {
            bytes.append(1)
            readTime = time
        } else {
            bytes.append(0)
        }
        bytes += server + RandomBytes.make(8)
        for time in [start, readTime] {
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: time.microseconds >> (56 - 8 * $0)) }
        }
        let code = secret.authenticationCode(for: Self.signedText(bytes, owner, database))
        return TransactionID(Base64.url.encode(bytes + Array(code)))
    }

    /// Returns the contents of an ID; `nil` if no server with the secret has issued it for the owner and the database.
    func contents(of id: TransactionID, for owner: Caller.Identity, in database: String) -> Contents? {
        guard let bytes = Base64.url.decode(id.key.utf8), bytes.count == Self.byteCount else { return nil }
        let (text, code) = (Array(bytes.prefix(Self.signedBytes)), Array(bytes.dropFirst(Self.signedBytes)))
        guard secret.isValid(code, for: Self.signedText(text, owner, database)) else { return nil }
        let times = [17, 25].map { start in text[start..<(start + 8)].reduce(Int64(0)) { $0 << 8 | Int64($1) } }
        guard let start = try? Timestamp(microseconds: times[0]), let readTime = try? Timestamp(microseconds: times[1]) else {
            return nil
        }
        return Contents(
            isOfThisServer: Array(text[1..<9]) == server,
            mode: text[0] == 1 ? .readOnly(at: readTime) : .readWrite,
            startTime: start
        )
    }

    private static func signedText(_ text: [UInt8], _ owner: Caller.Identity, _ database: String) -> [UInt8] {
        let context = [owner.signedText, database].flatMap { part in
            let bytes = Array(part.utf8)
            return (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (24 - 8 * $0)) } + bytes
        }
        return Array("transaction".utf8) + text + context
    }
}

extension Caller.Identity {
    /// The identity as unique text, the same on all servers.
    fileprivate var signedText: String {
        switch self {
        case .system: "system"
        case .unauthenticated: "unauthenticated"
        case .openAccess: "open"
        case .emulatorOwner: "owner"
        case .key(let id): "key \(id)"
        case .endUser(nil): "anonymous"
        case .endUser(let user?): "user \(user.issuer.byteCount) \(user.issuer) \(user.uid)"
        }
    }
}
