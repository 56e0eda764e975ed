internal import StrictJSON
internal import UTF8Text

/// The metadata of a document file: its `$document` member.
struct DocumentFileMetadata {
    private(set) var id: DocumentPath.ID?
    private(set) var createTime: Timestamp
    private(set) var updateTime: Timestamp

    /// The key of the top-level member.
    static let key: UTF8Key = "$document"
    private static let idKey: UTF8Key = "id"
    private static let createTimeKey: UTF8Key = "createTime"
    private static let updateTimeKey: UTF8Key = "updateTime"

    /// An example, for error messages.
    static let example =
        "\"$document\": {\"createTime\": \"2024-01-31T12:00:00Z\", \"updateTime\": \"2024-01-31T12:00:00Z\"}"

    /// Creates the metadata of a document to write.
    init(of document: EncodedDocument, storesID: Bool) {
        id = storesID ? document.path.id : nil
        createTime = document.createTime
        updateTime = document.updateTime
    }

    /// The members in file order.
    var members: DocumentFileFormatter.Metadata { Self.members(id: id, times: (createTime, updateTime)) }

    /// Decodes the metadata. Unknown members are rejected, because the next write would lose them.
    init(_ node: JSONNode) throws(ValueDecodingError) {
        guard let members = node.members else {
            throw ValueDecodingError(node, "Expected an object as in \(Self.example), found \(node.summary).")
        }
        var (idNode, createTimeNode, updateTimeNode): (JSONNode?, JSONNode?, JSONNode?)
        for (key, member) in members {
            switch key {
            case Self.createTimeKey: createTimeNode = member
            case Self.updateTimeKey: updateTimeNode = member
            case Self.idKey: idNode = member
            default:
                throw ValueDecodingError(
                    member,
                    "Expected only the members id, createTime and updateTime in $document, found \(Excerpt(key.string)). "
                        + "Remove it."
                )
            }
        }
        createTime = try Self.time(createTimeNode, Self.createTimeKey, of: node)
        updateTime = try Self.time(updateTimeNode, Self.updateTimeKey, of: node)
        guard createTime <= updateTime else {
            throw ValueDecodingError(node, "The updateTime of $document is earlier than its createTime. Correct one of them.")
        }
        if let idNode { id = try Self.id(idNode) }
    }

    /// Decodes the ID in metadata in which the times may be missing, both of them.
    static func id(in node: JSONNode) throws(ValueDecodingError) -> DocumentPath.ID? {
        guard let members = node.members, members.allSatisfy({ $0.key == idKey }) else { return try Self(node).id }
        guard let member = node[idKey] else { return nil }
        return try id(member)
    }

    /// Returns the members in file order.
    static func members(id: DocumentPath.ID?, times: (create: Timestamp, update: Timestamp)?) -> DocumentFileFormatter.Metadata {
        var members: DocumentFileFormatter.Metadata = []
        if let id { members.append((idKey, id.key.string)) }
        if let times { members += [(createTimeKey, times.create.rfc3339), (updateTimeKey, times.update.rfc3339)] }
        return members
    }

    /// Returns the document ID from the file name and the metadata, at least one of which must contain it.
    func resolveID(_ nameID: DocumentPath.ID?, from node: JSONNode) throws(ValueDecodingError) -> DocumentPath.ID {
        switch (nameID, id) {
        case (let named?, nil):
            return named
        case (nil, let stored?):
            return stored
        case (let named?, let stored?):
            guard named == stored else {
                throw ValueDecodingError(
                    node,
                    "The file name encodes the ID \(Excerpt(named.key.string)), but $document has the ID "
                        + "\(Excerpt(stored.key.string)). Rename the file, or remove the id from $document."
                )
            }
            return named
        case (nil, nil):
            throw ValueDecodingError(
                node,
                "The file name doesn't contain the document ID. Add it to $document, as in \"id\": \"hitchhiker\"."
            )
        }
    }

    private static func id(_ member: JSONNode) throws(ValueDecodingError) -> DocumentPath.ID {
        guard let text = member.string else { throw ValueDecodingError(member, expected: "the document ID as a string") }
        do throws(StatusError) {
            return try DocumentPath.ID(text)
        } catch {
            throw ValueDecodingError(member, error)
        }
    }

    private static func time(
        _ member: JSONNode?,
        _ name: UTF8Key,
        of node: JSONNode
    ) throws(ValueDecodingError) -> Timestamp {
        guard let member else {
            throw ValueDecodingError(node, "Expected the member \(name) in $document, as in \(example), found none.")
        }
        guard let text = member.string else {
            throw ValueDecodingError(member, expected: "a string in RFC 3339 format, as in \(example)")
        }
        do throws(StatusError) {
            return try Timestamp(rfc3339: text)
        } catch {
            throw ValueDecodingError(member, error)
        }
    }
}
