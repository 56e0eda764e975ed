import DocumentModel
import HearthWire
import StrictJSON
import UTF8Text

/// The contents of the record by which servers share their browser sessions: JSON, one session per line.
///
/// ```json
/// {"format":1,"sessions":[
/// {"id":"…","key":"5f0c1e9ab3d2","secure":true,"network":"192.0.2.1","startTime":"…","lastUseTime":"…"}
/// ]}
/// ```
struct SessionFile: Sendable {
    /// A session. `id` is the hash of its secret ID.
    struct Entry: Sendable {
        /// The ID of the key with which the session was started; `nil` while the server required none.
        let key: UTF8Key?
        let isSecure: Bool
        let network: UTF8Key
        let startTime: Timestamp
        var lastUseTime: Timestamp
    }

    /// The sessions by the hashes of their IDs.
    var entries: [UTF8Key: Entry] = [:]

    private static let record = ListRecord(format: 1, list: "sessions", subject: "browser sessions")

    /// Creates a record without sessions.
    init() {}

    /// Parses the record; a missing one has no sessions.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if it is malformed; ``StatusCode/failedPrecondition`` if a newer version of Hearth wrote it.
    init(contents bytes: [UInt8]?) throws(StatusError) {
        guard let bytes else { return }
        for element in try Self.record.objects(in: bytes) {
            guard let id = element["id"]?.string, let isSecure = element["secure"]?.boolean,
                let network = element["network"]?.string, let start = Self.time("startTime", in: element),
                let lastUse = Self.time("lastUseTime", in: element)
            else { throw Self.record.damaged }
            entries[UTF8Key(id)] = Entry(
                key: element["key"]?.string.map { UTF8Key($0) },
                isSecure: isSecure,
                network: UTF8Key(network),
                startTime: start,
                lastUseTime: lastUse
            )
        }
    }

    /// Parses the record; one that is damaged has no sessions: they have to sign in again.
    ///
    /// - Throws: ``StatusCode/failedPrecondition`` if a newer version of Hearth wrote it, which must not be replaced.
    init(replacingDamaged bytes: [UInt8]?) throws(StatusError) {
        do throws(StatusError) {
            try self.init(contents: bytes)
        } catch  where error.code == .dataLoss {
            self.init()
        }
    }

    /// The record's bytes.
    var encoded: [UInt8] {
        let lines = entries.sorted { $0.key < $1.key }.map { id, entry in
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("id", id.string)
            if let key = entry.key { writer.member("key", key.string) }
            writer.member("secure", entry.isSecure)
            writer.member("network", entry.network.string)
            writer.member("startTime", entry.startTime.rfc3339)
            writer.member("lastUseTime", entry.lastUseTime.rfc3339)
            writer.endObject()
            return writer.finish()
        }
        return Self.record.encoded(lines)
    }

    private static func time(_ name: UTF8Key, in node: JSONNode) -> Timestamp? {
        node[name]?.string.flatMap { try? Timestamp(rfc3339: $0) }
    }
}
