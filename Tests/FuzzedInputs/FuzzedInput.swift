internal import DocumentModel
internal import HearthAPI
internal import JSONRPC
internal import StrictJSON
internal import Synchronization
internal import UTF8Text

/// A kind of untrusted input that is parsed.
package enum FuzzedInput: CaseIterable, Sendable {
    /// A JSON text.
    case json
    /// A document file.
    case file
    /// A JSON-RPC request body: a call or a batch.
    case body
    /// The parameters of a query.
    case query
    /// A Firestore REST request: `METHOD TARGET`, followed by the body on the next lines.
    case firestore
    /// The form of a WebChannel request.
    case webChannel
    /// A path, an ID or a field path.
    case path
    /// A token, a key or a timestamp.
    case token

    /// Parses an input as the server does.
    ///
    /// Any input must be rejected or round-trip. Returns a description of the violation, or `nil` if there is none.
    package func check(_ bytes: [UInt8]) async -> String? {
        switch self {
        case .json: checkJSON(bytes)
        case .file: checkFile(bytes)
        case .body: await checkBody(bytes)
        case .query: await checkQuery(bytes)
        case .firestore: await checkFirestoreRequest(bytes)
        case .webChannel: checkWebChannelForm(bytes)
        case .path: checkPath(String(decoding: bytes, as: UTF8.self))
        case .token: checkToken(String(decoding: bytes, as: UTF8.self))
        }
    }
}

extension FuzzedInput {
    private func checkJSON(_ bytes: [UInt8]) -> String? {
        guard let text = try? JSONText(bytes) else { return nil }
        guard text.root.position().line >= 1 else { return "the value has no source location" }
        guard let value = try? Value(json: text.root) else { return nil }
        var writer = JSONWriter()
        value.write(to: &writer)
        guard let again = try? Value(json: JSONText(writer.finish()).root) else { return "the encoded value cannot be decoded" }
        // In this order NaN equals itself.
        return again.compared(to: value) == .equal ? nil : "the value does not round-trip"
    }

    private func checkFile(_ bytes: [UInt8]) -> String? {
        guard let collection = try? CollectionPath("a"),
            let document = try? DocumentFile.decode(bytes, in: collection, id: nil, file: "a/b.json")
        else { return nil }
        let file = DocumentFile.encode(document, storesID: true)
        guard let again = try? DocumentFile.decode(file, in: collection, id: nil, file: "a/b.json") else {
            return "the encoded document cannot be decoded"
        }
        return EncodedDocument(again) == EncodedDocument(document) ? nil : "the document does not round-trip"
    }

    private func checkBody(_ bytes: [UInt8]) async -> String? {
        let unexpected = Mutex<String?>(nil)
        let limits = RPCLimits(json: JSONLimits(maximumBytes: 1 << 20), callTimeout: .seconds(1))
        let server = RPCServer(methods: HearthMethods.table, limits: limits) { error in
            unexpected.withLock { $0 = "\(error.method) failed: \(error.error)" }
        }
        let reply = await server.handle(bytes, context: ServiceContext(store: ReadOnlyEmptyStore()))
        if let unexpected = unexpected.withLock(\.self) { return unexpected }
        guard case .response(let body) = reply else { return nil }
        return Self.checkResponse(body.joined())
    }

    private func checkQuery(_ bytes: [UInt8]) async -> String? {
        await checkBody(Array(#"{"jsonrpc":"2.0","id":1,"method":"query.run","params":"#.utf8) + bytes + Array("}".utf8))
    }

    private func checkPath(_ text: String) -> String? {
        let readings: [(name: String, again: String?)] = [
            ("document", (try? DocumentPath(text))?.string), ("collection", (try? CollectionPath(text))?.string),
            ("document ID", (try? DocumentPath.ID(text))?.key.string), ("collection ID", (try? CollectionID(text))?.key.string),
        ]
        for (name, again) in readings {
            guard let again, !again.utf8.elementsEqual(text.utf8) else { continue }
            return "parsed as a \(name), it became \(again)"
        }
        guard let field = try? FieldPath(text) else { return nil }
        return (try? FieldPath(field.description)) == field ? nil : "the field path \(field) does not round-trip"
    }

    private func checkToken(_ text: String) -> String? {
        _ = APIKeyRegistry.isKey(Array(text.utf8))
        if let token = ResumeToken(text), ResumeToken(token.text) != token { return "the watch token became \(token.text)" }
        if let token = PageToken(text), PageToken(token.text) != token { return "the page token became \(token.text)" }
        if let time = try? Timestamp(rfc3339: text), (try? Timestamp(rfc3339: time.rfc3339)) != time {
            return "the time became \(time.rfc3339)"
        }
        return nil
    }

    /// Checks the form of a JSON-RPC response. Returns a description of the violation, or `nil` if there is none.
    package static func checkResponse(_ bytes: [UInt8]) -> String? {
        guard let root = try? JSONText(bytes).root else { return "the response is not JSON" }
        for response in root.elements.map(Array.init) ?? [root] {
            guard response["jsonrpc"]?.string.map({ UTF8Key($0) }) == "2.0", response["id"] != nil, response.count == 3 else {
                return "not a response object"
            }
            if response["result"] != nil { continue }
            guard case .integer(let code)? = response["error"]?["code"]?.number, response["error"]?["message"]?.string != nil
            else {
                return "neither a result nor an error"
            }
            let isKnown = (1...16).contains(code) || [-32700, -32600, -32601, -32602].contains(code)
            if !isKnown { return "unknown error code \(code)" }
        }
        return nil
    }
}
