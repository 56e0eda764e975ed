import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

extension AdminPages {
    /// Writes a new document.
    func create(_ fields: MapValue, _ target: EditTarget) async throws(StatusError) -> SaveOutcome {
        var problems = FormProblems()
        do throws(StatusError) {
            let id =
                target.id.utf8.isEmpty
                ? DocumentID.automatic() : try DocumentID(EditedText.string(ofLine: target.id) ?? target.id)
            let path = target.collection.document(id)
            _ = try await SetDocument.call(.create(path, fields), in: context)
            return .answer(.done(at: AdminURL.document(path), .created))
        } catch {
            switch error.code {
            case .alreadyExists:
                problems.add(localized("There is a document with this ID already. Choose another, or none."), at: "id")
            case .invalidArgument where error.field == nil && error.path == nil: problems.add(error.message, at: "id")
            case .invalidArgument: problems.add(error.forForm)
            default: throw error
            }
            return .refused(problems)
        }
    }

    /// Writes a document that was edited, unless somebody else has changed it meanwhile.
    func save(_ fields: MapValue, at path: DocumentPath, on base: EditBase) async throws(StatusError) -> SaveOutcome {
        let current = try await context.store.document(at: path)
        guard EditBase(current) == base else { return .answer(.page(try await conflict(at: path, base, current, fields))) }
        if let current, try current.decoded().fields == fields {
            return .answer(.done(at: AdminURL.document(path), .unchanged))
        }
        do throws(StatusError) {
            let result = try await SetDocument.call(.set(path, fields, precondition: base.precondition), in: context)
            let undo = current.map { Flash.Undo(version: $0.updateTime, current: result.updateTime) }
            return .answer(.done(at: AdminURL.document(path), .saved(undo)))
        } catch {
            switch error.code {
            case .failedPrecondition, .notFound, .alreadyExists:
                return .answer(.page(try await conflict(at: path, base, try await context.store.document(at: path), fields)))
            case .invalidArgument:
                var problems = FormProblems()
                problems.add(error.forForm)
                return .refused(problems)
            default: throw error
            }
        }
    }

    /// The page of a document that is no longer as it was given to be edited.
    private func conflict(
        at path: DocumentPath,
        _ base: EditBase,
        _ theirs: EncodedDocument?,
        _ yours: MapValue
    ) async throws(StatusError) -> ConflictPage {
        ConflictPage(try await conflictOf(path, base, theirs, yours), now: surroundings.now())
    }

    private func conflictOf(
        _ path: DocumentPath,
        _ base: EditBase,
        _ theirs: EncodedDocument?,
        _ yours: MapValue
    ) async throws(StatusError) -> ConflictPage.Conflict {
        ConflictPage.Conflict(
            path: path,
            base: base,
            before: try await base.updateTime.asyncFlatMap { time throws(StatusError) in
                try await version(of: path, at: time)?.decoded().fields
            },
            theirs: theirs,
            theirFields: try theirs?.decoded().fields ?? [:],
            yours: yours
        )
    }

    /// Writes what was chosen of two versions, unless a third has come meanwhile.
    func resolve(
        _ submission: Submission,
        of path: DocumentPath,
        on base: EditBase
    ) async throws(StatusError) -> FormAnswer {
        let form = submission.form
        guard let known = EditBase(form["theirs"]), let yours = try? TypedJSON.fields(form["yours"]?.string ?? "") else {
            return .page(ProblemPage.unknownForm)
        }
        let current = try await context.store.document(at: path)
        let conflict = try await conflictOf(path, base, current, yours)
        guard !submission.isStale, EditBase(current) == known else {
            return .page(ConflictPage(conflict, now: surroundings.now()))
        }
        let merge = conflict.merge
        let choices = merge.places.indices.map { form[UTF8Key("c\($0)")].flatMap { ThreeWayMerge.Side(rawValue: $0.string) } }
        guard choices.allSatisfy({ $0 != nil }) || current == nil else {
            return .page(ConflictPage(conflict, choices: choices, isIncomplete: true, now: surroundings.now()))
        }
        let fields = current == nil ? yours : try merge.merged(choices.compactMap(\.self))
        return try await save(fields, at: path, on: known).answer { problems in
            let frame = EditFrame(EditTarget(path), base: known, problems: problems)
            return EditJSONPage(frame, text: EditJSONPage.text(of: fields))
        }
    }

    /// The version of a document that a commit of this time made; nil when it isn't kept.
    func version(of path: DocumentPath, at time: Timestamp) async throws(StatusError) -> EncodedDocument? {
        guard let end = try? Timestamp(microseconds: time.microseconds + 1) else { return nil }
        let page = try await DocumentHistory.call(.init(path: path, pageSize: 1, before: end), in: context)
        return page.versions.first?.document.flatMap { $0.updateTime == time ? $0 : nil }
    }
}

extension Optional where Wrapped: Sendable {
    fileprivate func asyncFlatMap<Result: Sendable>(
        _ transform: (Wrapped) async throws(StatusError) -> Result?
    ) async throws(StatusError) -> Result? {
        if let self { try await transform(self) } else { nil }
    }
}
