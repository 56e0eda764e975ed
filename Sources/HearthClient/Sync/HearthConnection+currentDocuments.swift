internal import DocumentModel
internal import HearthTransport
internal import HearthWire
internal import StrictJSON
internal import SyncEngine
internal import UTF8Text

extension HearthConnection {
    /// Reads a document for a cache.
    func answer(at path: DocumentPath) async throws(StatusError) -> ServerAnswer {
        let answer = try await currentDocument(at: path)
        let missing = RemoteDocument(path: path, content: .missing, version: answer.position?.time ?? .minimum)
        return ServerAnswer(
            documents: [answer.document.map { RemoteDocument($0) } ?? missing],
            time: answer.position?.time,
            epoch: answer.position?.epoch
        )
    }

    /// Reads documents by path for a cache, in several requests if they are many.
    ///
    /// - Returns: The documents, also those that don't exist, and the time as of which all are known with its epoch; `nil` if the server,
    ///   an older one, does not tell them.
    func currentDocuments(at paths: [DocumentPath]) async throws(StatusError) -> ServerAnswer {
        var result = ServerAnswer(time: .maximum)
        var rest = paths[...]
        var pageSize = 250
        while !rest.isEmpty {
            let page = Array(rest.prefix(pageSize))
            let answer: JSONNode
            do throws(StatusError) {
                answer = try await call("documents.batchGet") { params in
                    params.array(GetParameterKeys.paths, of: page) { $1.string($0.string) }
                }
            } catch {
                // The documents are too large for one response, unless the server asks to wait.
                guard error.code == .resourceExhausted, error.retryAfter == nil, page.count > 1 else { throw error }
                pageSize = page.count / 2
                continue
            }
            rest.removeFirst(page.count)
            let time = try answer.time(QueryResponseKeys.readTime)
            // That of the first request: the answer of a history that has ended is not taken for one of its successor.
            if rest.count + page.count == paths.count { result.epoch = answer[QueryResponseKeys.epoch]?.string }
            for (path, document) in zip(page, try BatchGetResponse.documents(json: answer)) {
                let missing = RemoteDocument(path: path, content: .missing, version: time ?? .minimum)
                result.documents.append(document.map { RemoteDocument($0) } ?? missing)
            }
            result.time = result.time.flatMap { known in time.map { min(known, $0) } }
        }
        return result
    }
}
