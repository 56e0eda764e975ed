internal import DocumentModel
internal import StrictJSON

extension HearthConnection {
    /// Reads a document; nil when it doesn't exist. Reads that are asked for at the same time may share requests.
    func existingDocument(at path: DocumentPath) async throws(StatusError) -> Document? {
        try await reads.document(at: path) { paths in await self.documents(each: paths) }
    }

    /// Reads documents in one request, each by itself: what is wrong with one is of no concern to the others.
    private func documents(each paths: [DocumentPath]) async -> [Result<Document?, StatusError>] {
        if let path = paths.first, paths.count == 1 { return [await documentAlone(at: path)] }
        do throws(StatusError) {
            var results = try await call(paths.map { .reading($0) }).map { Self.document(of: $0) }
            for (index, path) in paths.enumerated() {
                // Together they were too long for one answer.
                guard case .failure(let error) = results[index], error.code == .resourceExhausted else { continue }
                results[index] = await documentAlone(at: path)
            }
            return results
        } catch {
            return paths.map { _ in .failure(error) }
        }
    }

    private func documentAlone(at path: DocumentPath) async -> Result<Document?, StatusError> {
        do throws(StatusError) {
            return Self.document(of: .success(try await call(.reading(path))))
        } catch {
            return Self.document(of: .failure(error))
        }
    }

    private static func document(of answer: Result<JSONNode, StatusError>) -> Result<Document?, StatusError> {
        Result { () throws(StatusError) in
            do throws(StatusError) {
                return try Document(rpc: answer.get())
            } catch {
                guard error.code == .notFound, error.path != nil else { throw error }
                return nil
            }
        }
    }
}

extension RPCCall {
    fileprivate static func reading(_ path: DocumentPath) -> RPCCall {
        RPCCall("documents.get") { params in
            params.key("path")
            params.string(path.string)
        }
    }
}
