internal import DocumentModel
internal import HearthService
internal import JSONRPC
internal import StrictJSON
internal import Synchronization

/// What arrives from outside and is read: the kinds of input that anything may be tried for.
package enum FuzzedInput: CaseIterable, Sendable {
    /// A text of JSON.
    case json
    /// The file of a document.
    case file
    /// The body of a request: one call or several.
    case body
    /// The parameters of a query.
    case query
    /// A request of Firestore's interface: `METHOD TARGET`, and on the next lines the body.
    case firestore
    /// A path, an ID, or the name of a field.
    case path
    /// A token, a key or a time.
    case token

    /// Takes an input of this kind as a server does.
    ///
    /// Whatever it is, it is refused or taken for what it is; else the program ends here, or this says what is wrong.
    package func fault(in bytes: [UInt8]) async -> String? {
        switch self {
        case .json: faultOfJSON(bytes)
        case .file: faultOfFile(bytes)
        case .body: await faultOfBody(bytes)
        case .query: await faultOfQuery(bytes)
        case .firestore: await faultOfFirestoreRequest(bytes)
        case .path: faultOfPath(String(decoding: bytes, as: UTF8.self))
        case .token: faultOfToken(String(decoding: bytes, as: UTF8.self))
        }
    }
}

extension FuzzedInput {
    private func faultOfJSON(_ bytes: [UInt8]) -> String? {
        guard let text = try? JSONText(bytes) else { return nil }
        guard text.root.position().line >= 1 else { return "the value has no place" }
        guard let value = try? Value(json: text.root) else { return nil }
        var writer = JSONWriter()
        value.write(to: &writer)
        guard let again = try? Value(json: JSONText(writer.finish()).root) else { return "what was written can't be read" }
        // NaN is no other than itself in this order.
        return again.compared(to: value) == .equal ? nil : "another value was written than was read"
    }

    private func faultOfFile(_ bytes: [UInt8]) -> String? {
        guard let collection = try? CollectionPath("a"),
            let document = try? DocumentFile.decode(bytes, in: collection, id: nil, file: "a/b.json")
        else { return nil }
        let file = DocumentFile.encode(document, storesID: true)
        guard let again = try? DocumentFile.decode(file, in: collection, id: nil, file: "a/b.json") else {
            return "what was written can't be read"
        }
        return EncodedDocument(again) == EncodedDocument(document) ? nil : "another document was written than was read"
    }

    private func faultOfBody(_ bytes: [UInt8]) async -> String? {
        let unforeseen = Mutex<String?>(nil)
        let limits = RPCLimits(json: JSONLimits(maximumBytes: 1 << 20), callTimeout: .seconds(1))
        let server = RPCServer(methods: HearthMethods.table, limits: limits) { failure in
            unforeseen.withLock { $0 = "\(failure.method) failed: \(failure.error)" }
        }
        let reply = await server.handle(bytes, context: ServiceContext(store: EmptyStore()))
        if let unforeseen = unforeseen.withLock(\.self) { return unforeseen }
        guard case .response(let answer) = reply else { return nil }
        return Self.fault(inAnswer: answer.joined())
    }

    private func faultOfQuery(_ bytes: [UInt8]) async -> String? {
        await faultOfBody(Array(#"{"jsonrpc":"2.0","id":1,"method":"query.run","params":"#.utf8) + bytes + Array("}".utf8))
    }

    private func faultOfPath(_ text: String) -> String? {
        let readings: [(name: String, again: String?)] = [
            ("document", (try? DocumentPath(text))?.string), ("collection", (try? CollectionPath(text))?.string),
            ("document ID", (try? DocumentID(text))?.key.string), ("collection ID", (try? CollectionID(text))?.key.string),
        ]
        for (name, again) in readings {
            guard let again, !again.utf8.elementsEqual(text.utf8) else { continue }
            return "as a \(name) it became \(again)"
        }
        guard let field = try? FieldPath(text) else { return nil }
        return (try? FieldPath(field.description)) == field ? nil : "the field path \(field) is another one when it is read"
    }

    private func faultOfToken(_ text: String) -> String? {
        _ = AccessKeys.isKey(Array(text.utf8))
        if let token = WatchToken(text), WatchToken(token.text) != token { return "the watch token became \(token.text)" }
        if let token = PageToken(text), PageToken(token.text) != token { return "the page token became \(token.text)" }
        if let time = try? Timestamp(rfc3339: text), (try? Timestamp(rfc3339: time.rfc3339)) != time {
            return "the time became \(time.rfc3339)"
        }
        return nil
    }

    /// What is wrong with an answer; nil when nothing is.
    package static func fault(inAnswer bytes: [UInt8]) -> String? {
        guard let root = try? JSONText(bytes).root else { return "the answer is not JSON" }
        for response in root.elements.map(Array.init) ?? [root] {
            guard response["jsonrpc"]?.string.map({ UTF8Key($0) }) == "2.0", response["id"] != nil, response.count == 3 else {
                return "not a response"
            }
            if response["result"] != nil { continue }
            guard case .integer(let code)? = response["error"]?["code"]?.number, response["error"]?["message"]?.string != nil
            else {
                return "neither a result nor an error"
            }
            let isKnown = (1...16).contains(code) || [-32700, -32600, -32601, -32602].contains(code)
            if !isKnown { return "the code \(code)" }
        }
        return nil
    }
}
