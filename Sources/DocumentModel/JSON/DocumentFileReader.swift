internal import StrictJSON
internal import UTF8Text

/// A reader of a document file that reports errors with line and column.
struct DocumentFileReader {
    let collection: CollectionPath
    let id: DocumentPath.ID?

    /// Decodes and validates the file.
    ///
    /// - Parameter file: Returns the path of the file, for an error.
    func document(in bytes: [UInt8], file: () -> String) throws(StatusError) -> Document {
        try decode(bytes, file) { root throws(ValueDecodingError) in try document(from: root) }
    }

    /// Decodes and validates a file without metadata, or with it.
    ///
    /// - Parameter file: Returns the path of the file, for an error.
    func contents(in bytes: [UInt8], file: () -> String) throws(StatusError) -> DocumentFile.Contents {
        try decode(bytes, file) { root throws(ValueDecodingError) in
            guard let id, let members = root.members, !members.contains(where: { $0.key == DocumentFileMetadata.key }) else {
                let document = try document(from: root)
                return DocumentFile.Contents(
                    path: document.path,
                    fields: document.fields,
                    times: (document.createTime, document.updateTime)
                )
            }
            let path = collection.document(id)
            return DocumentFile.Contents(
                path: path,
                fields: try fields(try DocumentFileMembers(members), of: root, at: path),
                times: nil
            )
        }
    }

    private func decode<Result>(
        _ bytes: [UInt8],
        _ file: () -> String,
        _ body: (JSONNode) throws(ValueDecodingError) -> Result
    ) throws(StatusError) -> Result {
        let text: JSONText
        do throws(JSONSyntaxError) {
            text = try JSONText(bytes, limits: DocumentFile.limits)
        } catch {
            let message = "The file is not valid JSON: \(error.reason). Correct it, or restore it from a backup."
            throw damage(StatusError(.dataLoss, message, cause: error), file(), line: error.line, column: error.column)
        }
        do throws(ValueDecodingError) {
            return try body(text.root)
        } catch {
            let (line, column) = error.node.position()
            throw damage(error.error, file(), line: line, column: column)
        }
    }

    private func document(from root: JSONNode) throws(ValueDecodingError) -> Document {
        guard let members = root.members else { throw ValueDecodingError(root, expected: "an object of fields and $document") }
        let content = try DocumentFileMembers(members)
        guard let metadataNode = content.metadata else {
            throw ValueDecodingError(
                root,
                "Expected a member $document with the document's metadata, found none. If this file is a document, "
                    + "add \(DocumentFileMetadata.example) at its end; otherwise move it out of the data folder."
            )
        }
        let metadata = try DocumentFileMetadata(metadataNode)
        let path = collection.document(try metadata.resolveID(id, from: metadataNode))
        let fields = try fields(content, of: root, at: path)
        return Document(path: path, fields: fields, createTime: metadata.createTime, updateTime: metadata.updateTime)
    }

    private func fields(
        _ content: DocumentFileMembers,
        of root: JSONNode,
        at path: DocumentPath
    ) throws(ValueDecodingError) -> MapValue {
        let fields = try content.fields(of: root)
        do throws(StatusError) {
            try Document.validate(fields, at: path)
        } catch {
            throw ValueDecodingError(root.nearest(to: error.field), error)
        }
        return fields
    }

    private func damage(_ error: StatusError, _ file: String, line: Int, column: Int) -> StatusError {
        var error = error
        error.code = .dataLoss
        error.path = error.path ?? id.map { collection.document($0).string } ?? collection.string
        error.file = StatusError.FileLocation(path: file, line: line, column: column)
        return error
    }
}

extension JSONNode {
    /// Returns the node of a field, given in the notation of errors, or of the innermost parent that can be found.
    fileprivate func nearest(to field: String?) -> JSONNode {
        var node = self
        var rest = Array((field ?? "").utf8)[...]
        while let child = node.children.first(where: { $0.isPrefix(of: rest) }) {
            node = child.node
            rest = rest.dropFirst(child.name.utf8.count)
            if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst() }
        }
        return node
    }

    private var children: [NamedNode] {
        if let elements {
            return elements.enumerated().map { NamedNode(name: "[\($0.offset)]", node: $0.element) }
        }
        if let map = self[ValueTag.map.key] { return map.namedMembers }
        return namedMembers
    }

    private var namedMembers: [NamedNode] {
        members.map { members in
            members.map { NamedNode(name: StatusError(.dataLoss, "").inside(field: $0.key).field ?? "", node: $0.value) }
        } ?? []
    }
}

/// A child of a node, with its name in the notation of errors.
private struct NamedNode {
    let name: String
    let node: JSONNode

    /// Returns whether the child is the first component of a field path.
    func isPrefix(of rest: ArraySlice<UInt8>) -> Bool {
        guard rest.starts(with: name.utf8) else { return false }
        let next = rest.dropFirst(name.utf8.count).first
        return next == nil || next == UInt8(ascii: ".") || next == UInt8(ascii: "[")
    }
}
