import DocumentModel
import DocumentStore
import HearthWire
import StrictJSON
import UTF8Text

/// The contents of `keys.json`: human-readable, editable JSON, one key per line.
///
/// ```json
/// {"format":1,"keys":[
/// {"id":"5f0c1e9ab3d2","label":"backups","role":"reader","createTime":"2026-11-21T12:00:00.000000Z","sha256":"…"}
/// ]}
/// ```
struct APIKeyFile: Sendable {
    var keys: [APIKey]

    static let fileName = "keys.json"
    private static let format: Int64 = 1

    init(keys: [APIKey] = []) {
        self.keys = keys
    }

    /// The file's bytes.
    func encoded() -> [UInt8] {
        let lines = keys.map { key in
            var writer = JSONWriter()
            writer.beginObject()
            key.writeMembers(to: &writer)
            writer.key("sha256")
            writer.string(key.digest.hexadecimal)
            writer.endObject()
            return writer.finish()
        }
        return ListRecord(format: Self.format, list: APIKeyMembers.keys, subject: "API keys").encoded(lines)
    }

    /// Parses the file, or returns no keys if the file is missing.
    init(contents bytes: [UInt8]?) throws(StatusError) {
        if let bytes { try self.init(bytes) } else { self.init() }
    }

    /// Parses the file.
    ///
    /// - Throws: ``StatusCode/dataLoss`` with the source location if the file is malformed; ``StatusCode/failedPrecondition`` if
    ///   it was written by a newer version of Hearth.
    init(_ bytes: [UInt8]) throws(StatusError) {
        let root: JSONNode
        do throws(JSONSyntaxError) {
            root = try JSONText(bytes).root
        } catch {
            throw Self.damaged(
                "\(error.reason)",
                StatusError.FileLocation(path: Self.fileName, line: error.line, column: error.column)
            )
        }
        guard case .integer(let format)? = root["format"]?.number else { throw Self.damaged("the format version is missing") }
        guard format == Self.format else {
            throw StatusError(
                .failedPrecondition,
                "\(Self.fileName) has format version \(format), but this version of Hearth reads version \(Self.format). Upgrade Hearth."
            )
        }
        guard let elements = root[APIKeyMembers.keys]?.elements else { throw Self.damaged("the list of keys is missing") }
        keys = []
        for element in elements {
            let key = try APIKey(json: element, number: keys.count + 1)
            guard !keys.contains(where: { $0.id == key.id }) else { throw Self.damaged("the ID \(key.id) occurs twice") }
            keys.append(key)
        }
    }

    fileprivate static func damaged(
        _ problem: String,
        _ location: StatusError.FileLocation = StatusError.FileLocation(path: fileName)
    ) -> StatusError {
        StatusError(
            .dataLoss,
            "\(fileName) is damaged: \(problem). Repair it or restore it from a backup. Without the file, every client on this machine "
                + "has full access to the server.",
            file: location
        )
    }
}

extension APIKey {
    /// The public attributes of the key as a JSON object.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writeMembers(to: &writer)
        writer.endObject()
        return writer.finish()
    }

    /// Writes the public attributes of the key as object members.
    func writeMembers(to writer: inout JSONWriter) {
        writer.member(APIKeyMembers.id, id.string)
        if !label.utf8.isEmpty { writer.member(APIKeyMembers.label, label) }
        writer.member(APIKeyMembers.role, role.rawValue)
        if let collections {
            writer.array(APIKeyMembers.collections, of: collections) { collection, writer in writer.string(collection.string) }
        }
        writer.member(APIKeyMembers.createTime, createTime.rfc3339)
        if let expireTime { writer.member(APIKeyMembers.expireTime, expireTime.rfc3339) }
        if let lastUseTime { writer.member(APIKeyMembers.lastUseTime, lastUseTime.rfc3339) }
    }

    /// Parses one key of the file.
    fileprivate init(json: JSONNode, number: Int) throws(StatusError) {
        func damaged(_ problem: String) -> StatusError { APIKeyFile.damaged("key \(number) has \(problem)") }
        func time(_ name: UTF8Key) throws(StatusError) -> Timestamp? {
            guard let member = json[name] else { return nil }
            guard let time = member.string.flatMap({ try? Timestamp(rfc3339: $0) }) else {
                throw damaged("an invalid \(name)")
            }
            return time
        }
        guard let id = json[APIKeyMembers.id]?.string, !id.utf8.isEmpty else { throw damaged("no id") }
        guard let role = json[APIKeyMembers.role]?.string.flatMap(Role.init(name:)) else {
            throw damaged("no valid role")
        }
        guard let digest = json["sha256"]?.string.flatMap(KeyDigest.init(hexadecimal:)) else {
            throw damaged("no sha256 of 64 hexadecimal digits")
        }
        guard let createTime = try time(APIKeyMembers.createTime) else { throw damaged("no createTime") }
        if let member = json[APIKeyMembers.collections] {
            // Ignoring a malformed restriction would widen the access of the key.
            guard let elements = member.elements, member.count > 0 else { throw damaged("an invalid list of collections") }
            var collections: [CollectionPath] = []
            for element in elements {
                guard let path = element.string.flatMap({ try? CollectionPath($0) }) else {
                    throw damaged("an invalid collection path")
                }
                collections.append(path)
            }
            self.collections = collections
        } else {
            collections = nil
        }
        self.id = UTF8Key(id)
        self.role = role
        self.digest = digest
        self.createTime = createTime
        label = json[APIKeyMembers.label]?.string ?? ""
        expireTime = try time(APIKeyMembers.expireTime)
        lastUseTime = try time(APIKeyMembers.lastUseTime)
    }
}
