package import DocumentModel
package import StrictJSON

extension HearthConnection {
    /// Asks a query that is stated as `query.run` takes it.
    ///
    /// - Parameter query: An object, the parameters by name.
    package func documents(
        ofQuery query: JSONNode
    ) async throws(StatusError) -> (documents: [EncodedDocument], damaged: [StatusError]) {
        let result = try await call("query.run") { $0.members(of: query) }
        let documents = try result.array("documents").map { json throws(StatusError) in try EncodedDocument(rpc: json) }
        return (documents, result.damaged)
    }

    /// Asks for the numbers of a query that is stated as `query.aggregate` takes it.
    ///
    /// - Returns: An object, the numbers by their aliases.
    package func aggregations(ofQuery query: JSONNode) async throws(StatusError) -> (result: JSONNode, damaged: [StatusError]) {
        let answer = try await call("query.aggregate") { $0.members(of: query) }
        guard let result = answer["result"] else { throw .unreadable(answer, expected: "an object named result") }
        return (result, answer.damaged)
    }

    /// Asks how a query is answered, stated as `query.explain` takes it.
    package func explanation(ofQuery query: JSONNode) async throws(StatusError) -> JSONNode {
        try await call("query.explain") { $0.members(of: query) }
    }
}

extension JSONWriter {
    /// Writes the members of an object, as they stand there, into another one.
    fileprivate mutating func members(of object: JSONNode) {
        guard let members = object.members else { return }
        for (name, value) in members {
            key(name)
            raw(value.rawBytes)
        }
    }
}
