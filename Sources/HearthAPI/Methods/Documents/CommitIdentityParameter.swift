import Cryptography
import DocumentModel
import DocumentStore
import HearthWire
import JSONRPC
import StrictJSON
import UTF8Text

/// The identity of a commit: `{client, number, after?}`.
struct CommitIdentityParameter: ObjectParameter {
    let client: CommitClientID
    let number: UInt64
    let after: UInt64

    static let schemaName = "CommitIdentity"
    private static let client = Parameter<ClientID>(
        CommitIdentityKeys.client,
        "The ID of the client: 16 random bytes as 22 characters of base64url. A secret: with it, answers can be read."
    )
    private static let number = Parameter<Int>(
        CommitIdentityKeys.number,
        "The number of the commit among those of the client, from 1, without gaps. A commit without an answer is sent again under the "
            + "same number."
    )
    private static let after = Parameter<Int?>(
        CommitIdentityKeys.after,
        "The highest number up to which the client has all answers. Default: 0."
    )
    static let members: [any ParameterDescription] = [client, number, after]

    init(from members: Arguments) throws(RPCError) {
        client = try members[Self.client].id
        let number = try members[Self.number]
        guard number >= 1 else {
            throw .invalidParams(at: "\(members.location(of: Self.number))", reason: "expected at least 1", got: "\(number)")
        }
        let after = try members[Self.after] ?? 0
        guard (0..<number).contains(after) else {
            throw .invalidParams(
                at: "\(members.location(of: Self.after))",
                reason: "expected 0 or more, and less than the number",
                got: "\(after)"
            )
        }
        (self.number, self.after) = (UInt64(number), UInt64(after))
    }

    /// Returns the identity of a commit of writes.
    func identity(of writes: [Write]) -> CommitIdentity {
        var writer = JSONWriter()
        writer.beginArray()
        for write in writes { write.write(to: &writer) }
        writer.endArray()
        let digest = SHA256.digest(of: writer.finish())
        let fingerprint = digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        return CommitIdentity(client: client, number: number, after: after, fingerprint: fingerprint)
    }
}

/// The digest of a client's ID.
private struct ClientID: ParameterValue {
    let id: CommitClientID

    static var schema: JSONSchema { .string() }

    init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        // A digest is stored, with which nobody can ask for answers.
        guard let id = CommitClientID(try String(json: json, at: location)),
            let digest = CommitClientID(bytes: SHA256.digest(of: id.bytes).prefix(CommitClientID.byteCount))
        else {
            // Not quoted: it is a secret.
            throw .invalidParams(at: "\(location)", reason: "expected 16 bytes as 22 characters of base64url without padding")
        }
        self.id = id.isShortLived ? digest.shortLived : digest
    }
}
