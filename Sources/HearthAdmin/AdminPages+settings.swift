import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

extension AdminPages {
    /// Indexes, limits and sessions, and the forms that change them.
    func settings(for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            try context.authorize(.reader)
            guard let submission else { return .page(await settingsPage()) }
            if submission.isStale { return .page(await settingsPage(typed: typedIndex(submission.form), problems: .stale)) }
            if let name = submission.form["end"] {
                try context.sessions.end(name, by: context.caller)
                let isOwn = name == visit.visitor.session?.name
                return .done(at: isOwn ? AdminURL.signIn : AdminURL.settings, isOwn ? .signedOut : .sessionEnded)
            }
            return try await changeIndexes(submission.form)
        }
    }

    private func settingsPage(
        typed: SettingsPage.Typed = SettingsPage.Typed(),
        problems: FormProblems = FormProblems()
    ) async -> SettingsPage {
        // They concern the whole database, which not every key is for.
        let indexes = await unlessRefused { () async throws(StatusError) in try await ListIndexes.call((), in: context) }
        let sessions = context.sessions.visible(to: context.caller).map { session in
            SessionView(session, keys: context.keys.all, own: visit.visitor.session, now: surroundings.now())
        }
        return SettingsPage(indexes: indexes, sessions: sessions, limits: limits, typed: typed, problems: problems)
    }

    private func typedIndex(_ form: Form) -> SettingsPage.Typed {
        SettingsPage.Typed(collection: form["collection"]?.string ?? "", fields: form["fields"]?.string ?? "")
    }

    private func changeIndexes(_ form: Form) async throws(StatusError) -> FormAnswer {
        try context.authorize(.admin)
        let typed = typedIndex(form)
        var problems = FormProblems()
        do throws(StatusError) {
            let change: IndexChange
            switch form["do"] {
            case "create": change = .create(try typed.definition())
            case "exempt": change = .exempt(try typed.exemption())
            case "unexempt": change = .unexempt(try typed.exemption())
            case "delete": change = .delete(id: form["id"]?.string ?? "")
            default: return .page(ProblemPage.unknownForm)
            }
            _ = try await CreateIndex.call(change, in: context)
            return .done(at: AdminURL.settings, .indexChanged)
        } catch {
            guard [.invalidArgument, .alreadyExists, .notFound, .resourceExhausted].contains(error.code) else { throw error }
            problems.add(error.message, at: "fields")
            return .page(await settingsPage(typed: typed, problems: problems))
        }
    }

    /// What one request may ask for, and how large documents may be.
    private var limits: [LimitView] {
        let limits = context.server.limits
        func size(_ bytes: Int) -> String { localized("{size} KiB", ["size": Counting.grouped(bytes >> 10)]) }
        return [
            LimitView(localized("Largest document"), size(DocumentLimits.maximumDocumentBytes)),
            LimitView(localized("Maps and arrays inside each other"), Counting.grouped(DocumentLimits.maximumDepth)),
            LimitView(
                localized("Longest ID or field name"),
                localized(count: DocumentLimits.maximumNameBytes, one: "{count} byte", other: "{count} bytes")
            ),
            LimitView(localized("Largest request and largest answer"), size(limits.maximumBodyBytes)),
            LimitView(localized("Calls in a batch"), Counting.grouped(limits.maximumBatchCount)),
            LimitView(localized("Documents in one get of many"), Counting.grouped(limits.maximumBatchGetCount)),
            LimitView(localized("Documents on a page of a list"), Counting.grouped(limits.maximumPageSize)),
            LimitView(
                localized("Time for a call"),
                localized(count: limits.callTimeout.components.seconds, one: "{count} second", other: "{count} seconds")
            ),
            LimitView(
                localized("Session without use"),
                localized(count: Session.maximumIdle.components.seconds / 60, one: "{count} minute", other: "{count} minutes")
            ),
            LimitView(
                localized("Session in use"),
                localized(count: Session.maximumAge.components.seconds / 3_600, one: "{count} hour", other: "{count} hours")
            ),
        ]
    }
}

extension SettingsPage.Typed {
    /// The ID of the collections that was typed.
    private func collectionID() throws(StatusError) -> CollectionID {
        try CollectionID(EditedText.string(ofLine: TypedNumber.trimmed(collection)) ?? collection)
    }

    /// The index that was typed: a field a line, each with its direction behind it.
    fileprivate func definition() throws(StatusError) -> IndexDefinition {
        var fields: [IndexDefinition.Field] = []
        for text in TypedNumber.lines(of: self.fields) {
            let words = text.utf8.split(separator: UInt8(ascii: " "))
            let isDescending = words.last?.elementsEqual("desc".utf8) ?? false
            let hasDirection = isDescending || (words.last?.elementsEqual("asc".utf8) ?? false)
            let name =
                hasDirection
                ? TypedNumber.trimmed(String(decoding: text.utf8.dropLast(words.last?.count ?? 0), as: UTF8.self)) : text
            fields.append(IndexDefinition.Field(try FieldPath(name), isDescending ? .descending : .ascending))
        }
        return try IndexDefinition(collection: collectionID(), fields: fields)
    }

    /// The exemption that was typed.
    fileprivate func exemption() throws(StatusError) -> IndexExemption {
        let text = TypedNumber.trimmed(fields)
        return try IndexExemption(collection: collectionID(), field: FieldPath(EditedText.string(ofLine: text) ?? text))
    }
}
