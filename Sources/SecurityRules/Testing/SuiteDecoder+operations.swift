internal import DocumentModel
internal import StrictJSON
internal import UTF8Text

/// The operations of a test case, and the documents before and after them.
struct OperationBuilder {
    private(set) var operations: [RulesRequest.Operation] = []
    private(set) var states: DocumentStates

    init(documents: [DocumentPath: MapValue]) {
        states = DocumentStates(before: documents, after: documents)
    }

    /// The documents after the operations so far.
    var documents: [DocumentPath: MapValue] { states.after }

    /// Sets the stored version of a document before all operations.
    mutating func store(_ fields: MapValue?, at path: DocumentPath) {
        states.before[path] = fields
        states.after[path] = fields
    }

    mutating func append(_ operation: RulesRequest.Operation) {
        operations.append(operation)
        switch operation {
        case .create(let path, let written), .update(let path, _, let written): states.after[path] = written
        case .delete(let path, _): states.after[path] = nil
        case .get, .list, .listed: break
        }
    }
}

/// The methods of the writes of a commit in a test suite.
private enum WriteMethod: String, CaseIterable {
    case create
    case update
    /// Creates the document, or replaces it.
    case set
    case delete
}

extension SuiteDecoder {
    /// Decodes the operation of a case, and returns a description of it.
    mutating func decodeOperation(
        _ node: SuiteNode,
        _ request: SuiteNode,
        _ encoding: PathEncoding,
        _ builder: inout OperationBuilder
    ) throws(StatusError) -> String {
        let pathNode = try request.required("path")
        let text = try pathNode.string("a path")
        let method = try request.required("method").named(RequestMethod.self)
        let relative = try relativePath(text, encoding, of: pathNode)
        if method != .list, let query = request["query"] { throw query.error("Only a list has a query.") }
        if ![.create, .update].contains(method), let resource = request.nonNull("resource") {
            throw resource.error("Only a create or an update has a resource.")
        }
        if method == .list, let query = try listQuery(relative, request, pathNode) {
            if let resource = node.nonNull("resource") { throw resource.error("A query of a collection has no resource.") }
            builder.append(.list(query))
        } else {
            let path = try pathNode.locating { () throws(StatusError) in try DocumentPath(relative) }
            try decodeOperation(method, on: path, node, request, &builder)
        }
        return "\(method.rawValue) \(text.excerpt)"
    }

    private func decodeOperation(
        _ method: RequestMethod,
        on path: DocumentPath,
        _ node: SuiteNode,
        _ request: SuiteNode,
        _ builder: inout OperationBuilder
    ) throws(StatusError) {
        if let resource = node["resource"] {
            builder.store(resource.json.isNull ? nil : try data(of: resource, at: path), at: path)
        }
        let stored = builder.documents[path]
        let written = try request.nonNull("resource").map { resource throws(StatusError) in try data(of: resource, at: path) }
        switch method {
        case .get:
            builder.append(.get(path, stored: stored))
        case .delete:
            builder.append(.delete(path, stored: stored))
        case .create:
            guard stored == nil else { throw request.error("Expected no document at the path. Use the method update.") }
            builder.append(.create(path, written: written ?? MapValue()))
        case .update:
            // Rules that do not look at the stored document need none, in a suite without any documents.
            guard let stored = stored ?? (builder.documents.isEmpty ? MapValue() : nil) else {
                throw request.error("Expected a document at the path, in resource or documents. Use the method create.")
            }
            builder.append(.update(path, stored: stored, written: written ?? MapValue()))
        case .list:
            guard let stored else {
                throw node.error("Expected the path of a collection, or a document at the path, in resource or documents.")
            }
            let query = try Self.query(request.nonNull("query"), of: .collection(path.collection))
            builder.append(.listed(path, stored: stored, query))
        }
    }

    /// Returns the fields in a `resource`.
    private func data(of resource: SuiteNode, at path: DocumentPath) throws(StatusError) -> MapValue {
        try resource.checkMembers(["data", "id", "__name__"])
        if let id = resource["id"], id.json.string.map({ UTF8Key($0) }) != path.id.key {
            throw id.expected("\(Excerpt(path.id.key.string)), the ID in the path")
        }
        let name = RulePath(path, in: database ?? DatabaseID.defaultDatabase).text
        if let node = resource["__name__"], node.json.string.map({ UTF8Key($0) }) != name {
            throw node.expected("\(Excerpt(name?.string ?? "")), the path of the document")
        }
        return try resource["data"]?.fields() ?? MapValue()
    }

    /// Decodes the query of a list, or returns `nil` if the path is that of a document as a result.
    private func listQuery(
        _ path: String,
        _ request: SuiteNode,
        _ pathNode: SuiteNode
    ) throws(StatusError) -> ListQuery? {
        let query = request.nonNull("query")
        let group = query?.nonNull("collectionGroup")
        let allDescendants = query?.nonNull("allDescendants")
        if group != nil || allDescendants != nil {
            let parent = path.isEmpty ? nil : try pathNode.locating { () throws(StatusError) in try DocumentPath(path) }
            guard let group else {
                guard allDescendants?.json.boolean == true else {
                    throw allDescendants?.expected("true") ?? pathNode.expected("a path")
                }
                return try Self.query(query, of: .descendants(of: parent))
            }
            if let allDescendants { throw allDescendants.error("Expected either collectionGroup or allDescendants.") }
            let name = try group.string("a collection ID")
            let id = try group.locating { () throws(StatusError) in try CollectionID(name) }
            return try Self.query(query, of: .collectionGroup(id, below: parent))
        }
        let segmentCount = path.utf8.count { $0 == UInt8(ascii: "/") } + 1
        guard !segmentCount.isMultiple(of: 2) else { return nil }
        let collection = try pathNode.locating { () throws(StatusError) in try CollectionPath(path) }
        return try Self.query(query, of: .collection(collection))
    }

    /// Decodes the writes of a case, and returns a description of them.
    mutating func decodeWrites(
        _ node: SuiteNode,
        _ request: SuiteNode,
        _ builder: inout OperationBuilder
    ) throws(StatusError) -> String {
        for key in ["path", "method", "resource", "query"] as [UTF8Key] {
            if let member = request[key] { throw member.error("Unexpected beside writes.") }
        }
        if let member = node.nonNull("resource") { throw member.error("Unexpected beside writes. Use documents.") }
        let list = try request.required("writes")
        for write in try list.elements() {
            try write.checkMembers(["method", "path", "data"])
            let pathNode = try write.required("path")
            let path = try documentPath(pathNode.string("a path"), of: pathNode)
            let method = try write.required("method").named(WriteMethod.self)
            let stored = builder.documents[path]
            guard method != .delete else {
                if let data = write["data"] { throw data.error("A delete has no data.") }
                builder.append(.delete(path, stored: stored))
                continue
            }
            let data = try write.required("data").fields()
            switch (method, stored) {
            case (.create, .some): throw write.error("Expected no document at the path. Use the method update or set.")
            case (.update, nil): throw write.error("Expected a document at the path. Use the method create or set.")
            case (_, let stored?): builder.append(.update(path, stored: stored, written: data))
            case (_, nil): builder.append(.create(path, written: data))
            }
        }
        guard list.json.count > 0 else { throw list.error("Expected at least one write.") }
        return "commit of \(list.json.count.counted("write"))"
    }
}
