import ServerTestSupport
import StrictJSON
import UTF8Text

extension RawConnection {
    /// Sends a request to the Firestore REST API, with a path relative to the database root.
    mutating func firestore(
        _ method: String,
        _ path: String,
        _ body: String? = nil,
        in database: String = "projects/p/databases/(default)",
        fields: [String] = []
    ) async throws -> RawResponse {
        try await send(
            method,
            "/v1/\(database)/documents" + path,
            (body == nil ? [] : ["Content-Type: application/json"]) + fields,
            body: body
        )
    }

    /// Sends a request and returns the response body without timestamps, for comparison.
    mutating func firestoreWithoutTimes(_ method: String, _ path: String, _ body: String? = nil) async throws -> String {
        try await firestore(method, path, body).body
            .replacing(#/"(?:createTime|updateTime|readTime|commitTime)":"[^"]*",?/#, with: "")
            .replacing(",}", with: "}")
    }
}

extension RawResponse {
    /// The status of the error in the response, which may be wrapped in an array.
    var firestoreStatus: String? {
        guard let root = try? JSONText(body).root else { return nil }
        let message = root.elements.flatMap { elements in
            var elements = elements
            return elements.next()
        }
        return (message ?? root)["error"]?["status"]?.string
    }

    /// Returns a string member of the response.
    func text(_ member: UTF8Key) -> String? {
        (try? JSONText(body).root)?[member]?.string
    }
}

/// Returns the resource name of a document.
func firestoreName(_ path: String) -> String {
    "projects/p/databases/(default)/documents/\(path)"
}
