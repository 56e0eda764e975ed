import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The controller for the versions of a document and their restoration.
struct HistoryController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    /// The number of versions on a page.
    private static let versionCount = 20

    /// Shows the versions of a document.
    func show(_ path: DocumentPath) async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorize(.reader)
            let before = Timestamp(formValue: request.query["before"])
            return .page(try await historyPage(of: path, before: before))
        }
    }

    private func historyPage(
        of path: DocumentPath,
        before: Timestamp? = nil,
        problems: FormProblems = FormProblems()
    ) async throws(StatusError) -> HistoryPage {
        let state = try await StoredDocumentState(of: path, in: context)
        let versions = try await versions(of: path, before: before, isDamaged: state.damage != nil)
        return try HistoryPage(
            path,
            Array(versions.prefix(Self.versionCount + 1)),
            hasMore: versions.count > Self.versionCount,
            state: state,
            before: before,
            keys: request.principal.isAdmin ? context.keys.all : [],
            problems: problems,
            now: request.now
        )
    }

    /// Reads the versions of a page, and one more if there is one.
    private func versions(
        of path: DocumentPath,
        before: Timestamp?,
        isDamaged: Bool
    ) async throws(StatusError) -> [DocumentVersion] {
        var versions: [DocumentVersion] = []
        var next = before
        repeat {
            do throws(StatusError) {
                let page = try await GetDocumentHistory.call(.init(path: path, before: next), in: context)
                versions += page.versions
                next = page.next
            } catch {
                // Without commits in the journal, only the damaged file has the document's contents.
                guard isDamaged, error.code == .dataLoss, error.path.map({ UTF8Key($0) }) == UTF8Key(path.string) else {
                    throw error
                }
                return versions
            }
        } while next != nil && versions.count <= Self.versionCount
        return versions
    }

    /// Restores a version of a document, unless the document has changed since the form was shown.
    func restore(_ path: DocumentPath) async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            guard let submission else { return .redirect(to: AdminURL.history(of: path)) }
            try context.authorize(.writer)
            let form = submission.form
            guard let time = Timestamp(formValue: form["version"]) else { return .page(ErrorPage.invalidForm) }
            var problems = submission.isStale ? FormProblems.stale : FormProblems()
            guard problems.isEmpty else { return .page(try await historyPage(of: path, problems: problems)) }
            guard let version = try await context.version(of: path, at: time) else {
                problems.add(localized("This version is no longer retained."))
                return .page(try await historyPage(of: path, problems: problems))
            }
            do throws(StatusError) {
                let fields = try version.decoded().fields
                if let fingerprint = form["damaged"] {
                    try await restore(fields, at: path, replacingDamaged: fingerprint)
                    return .redirect(to: AdminURL.document(path), flash: .restored(nil))
                }
                let known = Timestamp(formValue: form["current"])
                let precondition = known.map(Precondition.updateTime) ?? .exists(false)
                let write = try Write.set(path, fields, precondition: precondition)
                let result = try await context.apply(write, onceFor: FormCommit(form).key)
                let next = form["next"].map { ReturnURL($0) }
                let undo = known.flatMap { Flash.Undo(version: $0, current: result.updateTime, of: path, on: next) }
                return .redirect(to: next?.url ?? AdminURL.document(path), flash: .restored(undo))
            } catch {
                guard [.failedPrecondition, .notFound, .alreadyExists].contains(error.code) else { throw error }
                problems.add(
                    localized("The document has changed in the meantime, so nothing was restored. Review the current version.")
                )
                return .page(try await historyPage(of: path, problems: problems))
            }
        }
    }

    /// Replaces a damaged file with a document, unless the file has changed since the form was shown.
    ///
    /// - Parameter fingerprint: The digest of the shown file.
    /// - Throws: `failedPrecondition` when the file has changed or no longer exists.
    private func restore(
        _ fields: MapValue,
        at path: DocumentPath,
        replacingDamaged fingerprint: UTF8Key
    ) async throws(StatusError) {
        guard let damage = try await StoredDocumentState(of: path, in: context).damage, damage.fingerprint == fingerprint,
            let file = damage.contents
        else {
            throw StatusError(.failedPrecondition, "The damaged file has changed.", path: path.string)
        }
        _ = try await context.apply(.set(path, fields), replacingDamaged: file)
    }
}
