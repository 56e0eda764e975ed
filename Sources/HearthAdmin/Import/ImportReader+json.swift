import DocumentModel
import HearthService
import StrictJSON

// NDJSON.
extension ImportReader {
    mutating func forEachLine(from first: [UInt8], _ body: Body) async throws(StatusError) {
        var lines = LineSplitter(maximumBytes: DocumentLine.maximumBytes)
        var (part, number) = (first, 0)
        while !part.isEmpty {
            lines.append(part)
            while let line = lines.next() {
                number += 1
                guard try await take(line, number, body) else { return }
            }
            guard let next = try await next(at: number + 1, body) else { return }
            part = next
        }
        if let line = lines.finish() { _ = try await take(line, number + 1, body) }
    }

    private func take(_ line: LineSplitter.Line, _ number: Int, _ body: Body) async throws(StatusError) -> Bool {
        switch line {
        case .complete(let text):
            guard text.contains(where: { $0 > UInt8(ascii: " ") }) else { return true }
            return try await body(
                entry(PlacedJSON(.init(place: TextPlace(line: number, column: 1), bytes: text))) { json throws(StatusError) in
                    try plan.document(json)
                }
            )
        case .overlong(let byteCount):
            let error = StatusError(
                .invalidArgument,
                "The line has \(byteCount) bytes, more than \(DocumentLine.maximumBytes). No document is as large."
            )
            return try await body(.failure(.init(line: number, error: error)))
        }
    }

    /// The document that JSON is, or what is wrong with it.
    private func entry(
        _ text: PlacedJSON,
        _ document: (JSONNode) throws(StatusError) -> (path: DocumentPath, fields: MapValue)
    ) -> Result<ImportPlan.Entry, ImportPlan.Fault> {
        let json: JSONNode
        do throws(JSONSyntaxError) {
            json = try JSONText(text.bytes, limits: JSONLimits(maximumBytes: DocumentLine.maximumBytes)).root
        } catch {
            let fault = StatusError(.invalidArgument, "Not JSON: \(error.reason).")
            return .failure(.init(place: text.place(line: error.line, column: error.column), error: fault))
        }
        do throws(StatusError) {
            let (path, fields) = try document(json)
            return .success(.init(line: text.place.line, path: path, fields: fields, byteCount: text.bytes.count))
        } catch {
            guard let place = error.textPlace else { return .failure(.init(line: text.place.line, error: error)) }
            return .failure(.init(place: text.place(line: place.line, column: place.column), error: error.withoutTextPlace))
        }
    }
}

// JSON.
extension ImportReader {
    mutating func forEachPiece(from first: [UInt8], _ body: Body) async throws(StatusError) {
        var pieces = JSONPieces()
        // An object may be one document, which is not known before all of it is there.
        var members: [JSONPieces.Piece] = []
        var (memberBytes, part) = (0, first)
        while !part.isEmpty {
            pieces.append(part)
            while let found = pieces.next() {
                guard case .success(let piece) = found else {
                    if case .failure(let fault) = found { _ = try await body(.failure(fault)) }
                    return
                }
                guard pieces.isObject else {
                    let entry = entry(PlacedJSON(piece)) { json throws(StatusError) in try plan.document(json) }
                    guard try await body(entry) else { return }
                    continue
                }
                memberBytes += piece.bytes.count
                members.append(piece)
                // No document is as large.
                guard memberBytes > DocumentLine.maximumBytes else { continue }
                for member in members { guard try await body(self.member(member)) else { return } }
                members = []
            }
            guard let next = try await next(at: pieces.place.line, body) else { return }
            part = next
        }
        if let fault = pieces.finish() {
            _ = try await body(.failure(fault))
        } else if memberBytes <= DocumentLine.maximumBytes, let document = document(of: members) {
            _ = try await body(entry(document) { json throws(StatusError) in try plan.document(json) })
        } else {
            for member in members { guard try await body(self.member(member)) else { return } }
        }
    }

    /// The document of a member of an object, whose name is the ID.
    private func member(_ piece: JSONPieces.Piece) -> Result<ImportPlan.Entry, ImportPlan.Fault> {
        entry(PlacedJSON(members: [piece])) { json throws(StatusError) in
            guard let (id, member) = json.members?.first(where: { _ in true }) else {
                throw StatusError(.invalidArgument, "Expected an ID and fields.")
            }
            let (path, fields) = (try plan.path(id: id.string), try MapValue(json: member))
            try Document.validate(fields, at: path)
            return (path, fields)
        }
    }

    /// The document that an object itself is; nil when its members are documents.
    private func document(of members: [JSONPieces.Piece]) -> PlacedJSON? {
        let text = PlacedJSON(members: members)
        guard let json = try? JSONText(text.bytes, limits: JSONLimits(maximumBytes: 2 * DocumentLine.maximumBytes)).root,
            json["path"]?.string != nil
        else { return nil }
        return text
    }
}
