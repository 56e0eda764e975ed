import StrictJSON

extension RawConnection {
    /// Asks for something of Firestore's interface, at a path below the root of a database.
    mutating func firestore(
        _ method: String,
        _ path: String,
        _ body: String? = nil,
        in database: String = "projects/p/databases/(default)",
        fields: [String] = []
    ) async throws -> RawResponse {
        try await ask(
            method,
            "/v1/\(database)/documents" + path,
            (body == nil ? [] : ["Content-Type: application/json"]) + fields,
            body: body
        )
    }

    /// Asks, and takes the messages of the answer as JSON without the times in them, so that they can be compared.
    mutating func timeless(_ method: String, _ path: String, _ body: String? = nil) async throws -> String {
        try await firestore(method, path, body).body
            .replacing(#/"(?:createTime|updateTime|readTime|commitTime)":"[^"]*",?/#, with: "")
            .replacing(",}", with: "}")
    }
}

extension RawResponse {
    /// The status of the error that the response tells, also in a list.
    var firestoreStatus: String? {
        guard let root = try? JSONText(body).root else { return nil }
        let message = root.elements.flatMap { elements in
            var elements = elements
            return elements.next()
        }
        return (message ?? root)["error"]?["status"]?.string
    }

    /// A member of the response that is text.
    func text(_ member: UTF8Key) -> String? {
        (try? JSONText(body).root)?[member]?.string
    }
}

/// The name of a document as the interface has it.
func firestoreName(_ path: String) -> String {
    "projects/p/databases/(default)/documents/\(path)"
}
