import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

extension AdminPages {
    /// How many versions a page shows.
    private static let versionCount = 20

    /// The versions of a document.
    func history(of path: DocumentPath, for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            try context.authorize(.reader)
            let before = Timestamp(formText: request.items["before"])
            return .page(try await historyPage(of: path, before: before))
        }
    }

    private func historyPage(
        of path: DocumentPath,
        before: Timestamp? = nil,
        problems: FormProblems = FormProblems()
    ) async throws(StatusError) -> HistoryPage {
        let state = try await state(of: path)
        let versions = try await versions(of: path, before: before, isDamaged: state.damage != nil)
        return try HistoryPage(
            path,
            Array(versions.prefix(Self.versionCount + 1)),
            hasMore: versions.count > Self.versionCount,
            state: state,
            before: before,
            keys: visit.visitor.isAdmin ? context.keys.all : [],
            problems: problems,
            now: surroundings.now()
        )
    }

    /// The versions for a page, and one more where there is one.
    private func versions(
        of path: DocumentPath,
        before: Timestamp?,
        isDamaged: Bool
    ) async throws(StatusError) -> [DocumentVersion] {
        var versions: [DocumentVersion] = []
        var next = before
        repeat {
            do throws(StatusError) {
                let page = try await DocumentHistory.call(.init(path: path, before: next), in: context)
                versions += page.versions
                next = page.next
            } catch {
                // Of a document without commits only its file could tell what it was.
                guard isDamaged, error.code == .dataLoss, error.path.map({ UTF8Key($0) }) == UTF8Key(path.string) else {
                    throw error
                }
                return versions
            }
        } while next != nil && versions.count <= Self.versionCount
        return versions
    }

    /// Writes a version of a document as its newest one, where it is still as the form has shown it.
    func restore(_ path: DocumentPath, for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            guard let submission else { return .done(at: AdminURL.history(of: path), nil) }
            try context.authorize(.writer)
            let form = submission.form
            guard let time = Timestamp(formText: form["version"]) else { return .page(ProblemPage.unknownForm) }
            var problems = submission.isStale ? FormProblems.stale : FormProblems()
            guard problems.isEmpty else { return .page(try await historyPage(of: path, problems: problems)) }
            guard let version = try await version(of: path, at: time) else {
                problems.add(localized("This version is no longer kept."))
                return .page(try await historyPage(of: path, problems: problems))
            }
            do throws(StatusError) {
                let fields = try version.decoded().fields
                if let mark = form["damaged"] {
                    try await restore(fields, at: path, overDamage: mark)
                    return .done(at: AdminURL.document(path), .restored(nil))
                }
                let known = Timestamp(formText: form["current"])
                let precondition = known.map(Precondition.updateTime) ?? .exists(false)
                let result = try await SetDocument.call(.set(path, fields, precondition: precondition), in: context)
                let undo = known.map { Flash.Undo(version: $0, current: result.updateTime) }
                return .done(at: AdminURL.document(path), .restored(undo))
            } catch {
                guard [.failedPrecondition, .notFound, .alreadyExists].contains(error.code) else { throw error }
                problems.add(
                    localized("Somebody has changed the document meanwhile, so nothing was restored. Look at what it is now.")
                )
                return .page(try await historyPage(of: path, problems: problems))
            }
        }
    }

    /// Writes a document in the place of its damaged file, where that is still as the form has shown it.
    ///
    /// - Parameter mark: By what the form knows the file.
    /// - Throws: `failedPrecondition` where it is another by now, or none.
    private func restore(
        _ fields: MapValue,
        at path: DocumentPath,
        overDamage mark: UTF8Key
    ) async throws(StatusError) {
        guard let damage = try await state(of: path).damage, damage.mark == mark, let file = damage.contents else {
            throw StatusError(.failedPrecondition, "The damaged file has been changed.", path: path.string)
        }
        let last = try await DocumentHistory.call(.init(path: path, pageSize: 1), in: context).versions.first?.document
        var reads = ReadSet()
        reads.note(SeenDamage(file: file, lastVersion: last), at: path)
        let precondition = last.map { Precondition.updateTime($0.updateTime) } ?? .exists(false)
        _ = try await context.commit(.set(path, fields, precondition: precondition), validating: reads)
    }
}
