internal import StrictJSON

/// Reads one document's file and finds the line of what is wrong in it.
struct DocumentFileReader {
    let collection: CollectionPath
    let id: DocumentID?
    let file: String

    /// Reads the file.
    func document(in bytes: [UInt8]) throws(StatusError) -> Document {
        let text: JSONText
        do throws(JSONSyntaxError) {
            text = try JSONText(bytes, limits: DocumentFile.limits)
        } catch {
            let message = "The file is not valid JSON: \(error.reason). Correct it, or restore it from a backup."
            throw damage(StatusError(.dataLoss, message, cause: error), line: error.line, column: error.column)
        }
        do throws(JSONFormFault) {
            return try document(from: text.root)
        } catch {
            let (line, column) = error.node.position()
            throw damage(error.error, line: line, column: column)
        }
    }

    private func document(from root: JSONNode) throws(JSONFormFault) -> Document {
        guard let members = root.members else { throw JSONFormFault(root, expected: "an object of fields and $document") }
        let content = try Content(members)
        guard let metadataNode = content.metadata else {
            throw JSONFormFault(
                root,
                "Expected a member $document with the document's metadata, found none. If this file is to be a document, "
                    + "add \(DocumentFileMetadata.example) at its end; otherwise move it out of the data folder."
            )
        }
        let metadata = try DocumentFileMetadata(metadataNode)
        let path = collection.document(try metadata.resolveID(id, from: metadataNode))
        var room = DocumentRoom()
        let fields =
            if let map = content.map {
                try MapValue(tagged: map, level: 0, room: &room)
            } else {
                try MapValue(reading: content.members, of: root, level: 0, room: &room)
            }
        do throws(StatusError) {
            try Document.validate(fields, at: path)
        } catch {
            throw JSONFormFault(root.nearest(to: error.field), error)
        }
        return Document(path: path, fields: fields, createTime: metadata.createTime, updateTime: metadata.updateTime)
    }

    private func damage(_ error: StatusError, line: Int, column: Int) -> StatusError {
        var error = error
        error.code = .dataLoss
        error.path = error.path ?? id.map { collection.document($0).string } ?? collection.string
        error.file = StatusError.FileLocation(path: file, line: line, column: column)
        return error
    }
}

/// The top-level members of a file: the metadata, and either fields or one map of all fields.
private struct Content {
    private(set) var metadata: JSONNode?
    private(set) var map: JSONNode?
    private(set) var members: [(key: UTF8Key, value: JSONNode)] = []

    init(_ all: JSONNode.Members) throws(JSONFormFault) {
        for (key, node) in all {
            if key == DocumentFileMetadata.key {
                metadata = node
            } else if key == ValueTag.map.key {
                map = node
            } else if key.beginsWithDollar {
                throw JSONFormFault(
                    node,
                    "A file's own members can't begin with $, found \(Excerpt(key.string)). "
                        + "Put all fields into one member \"$map\": {…} beside $document."
                )
            } else {
                members.append((key, node))
            }
        }
        if map != nil, let (key, node) = members.first {
            throw JSONFormFault(node, "The field \(Excerpt(key.string)) stands beside $map. Move it into $map.")
        }
    }
}

extension JSONNode {
    /// The node of a field as an error names it, or the innermost one around it that can be told.
    fileprivate func nearest(to field: String?) -> JSONNode {
        var node = self
        var rest = Array((field ?? "").utf8)[...]
        while let (child, place) = node.places.first(where: { $0.leads(to: rest) }).map({ ($0.node, $0.text) }) {
            node = child
            rest = rest.dropFirst(place.utf8.count)
            if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst() }
        }
        return node
    }

    private var places: [Place] {
        if let elements {
            return elements.enumerated().map { Place(text: "[\($0.offset)]", node: $0.element) }
        }
        if let map = self[ValueTag.map.key] { return map.memberPlaces }
        return memberPlaces
    }

    private var memberPlaces: [Place] {
        members.map { members in
            members.map { Place(text: StatusError(.dataLoss, "").inside(field: $0.key).field ?? "", node: $0.value) }
        } ?? []
    }
}

/// A child of a node, and how errors name it.
private struct Place {
    let text: String
    let node: JSONNode

    /// Whether the rest of a place begins with this one.
    func leads(to rest: ArraySlice<UInt8>) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        let next = rest.dropFirst(text.utf8.count).first
        return next == nil || next == UInt8(ascii: ".") || next == UInt8(ascii: "[")
    }
}
