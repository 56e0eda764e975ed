import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The controller for the settings of a database: indexes, sessions and limits.
struct SettingsController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    /// Handles the settings page and the forms that change indexes and end sessions.
    func respond() async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorize(.reader)
            guard let submission else { return .page(await settingsPage()) }
            if submission.isStale { return .page(await settingsPage(input: indexInput(submission.form), problems: .stale)) }
            if let name = submission.form["end"] {
                try await context.sessions.end(name, by: context.caller)
                let isCurrent = name == request.principal.session?.name
                return .redirect(
                    to: isCurrent ? AdminURL.signIn : AdminURL.settings,
                    flash: isCurrent ? .signedOut : .sessionEnded
                )
            }
            return try await changeIndexes(submission.form)
        }
    }

    private func settingsPage(
        input: SettingsPage.Input = SettingsPage.Input(),
        problems: FormProblems = FormProblems()
    ) async -> SettingsPage {
        // Only keys for the whole database may list indexes.
        let indexes = await request.resultIfPermitted { () async throws(StatusError) in
            try await ListIndexes.call((), in: context)
        }
        let sessions = context.sessions.visible(to: context.caller).map { session in
            SessionView(session, keys: context.keys.all, current: request.principal.session, now: request.now)
        }
        return SettingsPage(
            indexes: indexes,
            sessions: sessions,
            limits: limits,
            input: input,
            canDelete: request.principal.isAdmin,
            problems: problems
        )
    }

    private func indexInput(_ form: Form) -> SettingsPage.Input {
        SettingsPage.Input(collection: form["collection"]?.string ?? "", fields: form["fields"]?.string ?? "")
    }

    private func changeIndexes(_ form: Form) async throws(StatusError) -> FormResult {
        try context.authorize(.admin)
        let input = indexInput(form)
        if form["do"] == "delete", !form.has("confirmed"), let id = form["id"]?.string {
            let known = try await ListIndexes.call((), in: context).indexes.first { UTF8Key($0.id) == UTF8Key(id) }
            if let known { return .page(RemoveIndexPage(IndexView(known.id, known.definition, known.buildState))) }
        }
        var problems = FormProblems()
        do throws(StatusError) {
            let change: IndexChange
            switch form["do"] {
            case "create": change = .create(try input.definition())
            case "exempt": change = .exempt(try input.exemption())
            case "unexempt": change = .unexempt(try input.exemption())
            case "delete": change = .delete(id: form["id"]?.string ?? "")
            default: return .page(ErrorPage.invalidForm)
            }
            _ = try await CreateIndex.call(change, in: context)
            return .redirect(to: form["next"].map { ReturnURL($0).url } ?? AdminURL.settings, flash: .indexChanged)
        } catch {
            guard [.invalidArgument, .alreadyExists, .notFound, .resourceExhausted].contains(error.code) else { throw error }
            problems.add(error.message, at: "fields")
            return .page(await settingsPage(input: input, problems: problems))
        }
    }

    /// The limits on requests, documents and sessions.
    private var limits: [LimitView] {
        let limits = context.server.limits
        func size(_ bytes: Int) -> String { localized("{size} KiB", ["size": NumberFormat.grouped(bytes >> 10)]) }
        return [
            LimitView(localized("Maximum document size"), size(DocumentLimits.maximumDocumentBytes)),
            LimitView(localized("Maximum nesting depth"), NumberFormat.grouped(DocumentLimits.maximumDepth)),
            LimitView(
                localized("Maximum length of an ID or field name"),
                localized(count: DocumentLimits.maximumNameBytes, one: "{count} byte", other: "{count} bytes")
            ),
            LimitView(localized("Maximum request and response size"), size(limits.maximumBodyBytes)),
            LimitView(localized("Maximum calls per batch"), NumberFormat.grouped(limits.maximumBatchCount)),
            LimitView(localized("Maximum documents per batch get"), NumberFormat.grouped(limits.maximumBatchGetCount)),
            LimitView(localized("Maximum page size"), NumberFormat.grouped(limits.maximumPageSize)),
            LimitView(
                localized("Call timeout"),
                localized(count: limits.callTimeout.components.seconds, one: "{count} second", other: "{count} seconds")
            ),
            LimitView(
                localized("Session idle timeout"),
                localized(count: Session.idleTimeout.components.seconds / 60, one: "{count} minute", other: "{count} minutes")
            ),
            LimitView(
                localized("Maximum session age"),
                localized(count: Session.maximumLifetime.components.seconds / 3_600, one: "{count} hour", other: "{count} hours")
            ),
        ]
    }
}

extension SettingsPage.Input {
    private func collectionID() throws(StatusError) -> CollectionID {
        try CollectionID(FormTextCoding.decodeLine(FormTextCoding.trimmed(collection)) ?? collection)
    }

    /// Parses the definition of a composite index: one field per line, followed by its direction.
    fileprivate func definition() throws(StatusError) -> IndexDefinition {
        var fields: [IndexDefinition.Field] = []
        for text in FormTextCoding.lines(of: self.fields) {
            let words = text.utf8.split(separator: UInt8(ascii: " "))
            let isDescending = words.last?.elementsEqual("desc".utf8) ?? false
            let hasDirection = isDescending || (words.last?.elementsEqual("asc".utf8) ?? false)
            let name =
                hasDirection
                ? FormTextCoding.trimmed(String(decoding: text.utf8.dropLast(words.last?.count ?? 0), as: UTF8.self)) : text
            fields.append(IndexDefinition.Field(try FieldPath(name), isDescending ? .descending : .ascending))
        }
        return try IndexDefinition(collection: collectionID(), fields: fields)
    }

    fileprivate func exemption() throws(StatusError) -> IndexExemption {
        let text = FormTextCoding.trimmed(fields)
        return try IndexExemption(collection: collectionID(), field: FieldPath(FormTextCoding.decodeLine(text) ?? text))
    }
}
