internal import StrictJSON

/// The `$document` member of a file.
struct DocumentFileMetadata {
    private(set) var id: DocumentID?
    private(set) var createTime: Timestamp
    private(set) var updateTime: Timestamp

    /// The top-level member that the metadata is.
    static let key: UTF8Key = "$document"
    private static let idKey: UTF8Key = "id"
    private static let createTimeKey: UTF8Key = "createTime"
    private static let updateTimeKey: UTF8Key = "updateTime"

    /// How it should look, for messages.
    static let example =
        "\"$document\": {\"createTime\": \"2024-01-31T12:00:00Z\", \"updateTime\": \"2024-01-31T12:00:00Z\"}"

    /// The metadata of a document that is to be written.
    init(of document: EncodedDocument, storesID: Bool) {
        id = storesID ? document.path.id : nil
        createTime = document.createTime
        updateTime = document.updateTime
    }

    /// The members as they are written, in order.
    var members: [(key: UTF8Key, text: String)] {
        (id.map { [(Self.idKey, $0.key.string)] } ?? [])
            + [(Self.createTimeKey, createTime.rfc3339), (Self.updateTimeKey, updateTime.rfc3339)]
    }

    /// Reads the metadata; unknown members are refused, since they would be lost with the next write.
    init(_ node: JSONNode) throws(JSONFormFault) {
        guard let members = node.members else {
            throw JSONFormFault(node, "Expected an object as in \(Self.example), found \(node.summary).")
        }
        let known = [Self.idKey, Self.createTimeKey, Self.updateTimeKey]
        for (key, member) in members where !known.contains(key) {
            throw JSONFormFault(
                member,
                "Expected no members of $document but id, createTime and updateTime, found \(Excerpt(key.string)). Remove it."
            )
        }
        createTime = try Self.time(Self.createTimeKey, of: node)
        updateTime = try Self.time(Self.updateTimeKey, of: node)
        guard createTime <= updateTime else {
            throw JSONFormFault(node, "The updateTime of $document is earlier than its createTime. Correct one of them.")
        }
        if let member = node[Self.idKey] {
            guard let text = member.string else { throw JSONFormFault(member, expected: "the document's id as a string") }
            do throws(StatusError) {
                id = try DocumentID(text)
            } catch {
                throw JSONFormFault(member, error)
            }
        }
    }

    /// The document's id from the file's name and its metadata, of which at least one must tell it.
    func resolveID(_ nameID: DocumentID?, from node: JSONNode) throws(JSONFormFault) -> DocumentID {
        switch (nameID, id) {
        case (let named?, nil):
            return named
        case (nil, let stored?):
            return stored
        case (let named?, let stored?):
            guard named == stored else {
                throw JSONFormFault(
                    node,
                    "The file's name stands for the id \(Excerpt(named.key.string)), but $document says "
                        + "\(Excerpt(stored.key.string)). Rename the file, or remove the id from $document."
                )
            }
            return named
        case (nil, nil):
            throw JSONFormFault(
                node,
                "The file's name does not tell the document's id. Add it to $document, as in \"id\": \"hitchhiker\"."
            )
        }
    }

    private static func time(_ name: UTF8Key, of node: JSONNode) throws(JSONFormFault) -> Timestamp {
        guard let member = node[name] else {
            throw JSONFormFault(node, "Expected the member \(name) in $document, as in \(example), found none.")
        }
        guard let text = member.string else {
            throw JSONFormFault(member, expected: "a string in RFC 3339 form, as in \(example)")
        }
        do throws(StatusError) {
            return try Timestamp(rfc3339: text)
        } catch {
            throw JSONFormFault(member, error)
        }
    }
}
