import DocumentModel
import StrictJSON

extension AdminPages {
    /// Answers a request for what an action shows, or for what its form asks for.
    func respond(to request: PageRequest, at segments: [UTF8Key], with action: DataAction) async -> PageResponse {
        do throws(StatusError) {
            switch (action, try DataPath(segments)) {
            case (.edit, .document(let path)): return await edit(path, for: request)
            case (.new, .collection(let path)): return await create(in: path, for: request)
            case (.delete, .document(let path)): return await delete(path, for: request)
            case (.delete, .collection(let path)): return await delete(path, for: request)
            case (.history, .document(let path)): return await history(of: path, for: request)
            case (.restore, .document(let path)): return await restore(path, for: request)
            default: return await respond(with: ProblemPage.unknownAddress)
            }
        } catch {
            return await respond(to: error)
        }
    }
}
