import DocumentModel
import DocumentStore
import Foundation
import HTTPTypes
import HearthAPI
import Logging
import StrictJSON
import Synchronization
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Members of view models")
struct TemplateMembersTests {
    @Test
    func `Templates look up every member of every view model, and no other name`() async throws {
        let lookups = TemplateLookups()
        try await TestSite.with(Self.writes(), observer: lookups.record) { site in
            let pages = PageSamples(site: site)
            _ = try await site.store.commit([.set(DocumentPath("books/hitchhiker"), ["n": .integer(1)])])
            let logger = Logger(label: "test") { [log = site.pages.context.server.log] _ in log.handler }
            logger.warning("Something is wrong", metadata: ["store.sequence": "1"])
            for address in Self.addresses + [QueryBuilderTests.explained] { _ = await site.get(address) }
            for query in Self.queries { _ = await site.get("/admin/query?query=\(PercentEncoding.encode(UTF8Key(query)))") }
            _ = await site.get("/admin/query?explain=1&query=\(PercentEncoding.encode(UTF8Key(Self.queries[0])))")
            _ = await site.send("method=server.info&params=")
            _ = await site.send("method=documents.delete&params=%7B%7D")
            try await pages.showForms()
            try await pages.showJobs()
            try await pages.showRules()
            // Before there are keys, which every request then needs.
            try await pages.showServer()
            try await pages.showAccess()
            try await pages.showConflict()
            try await pages.showImport()
            try await pages.showDamage()
            await pages.showRebuild()
        }
        let modelNames = try Self.viewModelNames()
        #expect(modelNames.count > 60)
        // The chart of commit rates needs commits over ten seconds.
        #expect(modelNames.subtracting(lookups.modelNames) == ["RateChart"], "view models that no template renders")
        // A section that no sample shows looks up nothing.
        let templateNames = try Self.templateNames()
        #expect(
            lookups.unusedMembers.filter { !templateNames.contains($0.name) }.map(\.model) == [],
            "members that no template uses"
        )
        let unknown = templateNames.subtracting(lookups.memberNames).subtracting(try Self.memberNames(of: "RateChart"))
        #expect(unknown.sorted() == [], "names that are not members")
    }

    private static func writes() throws -> [Write] {
        try GuideData.writes() + QueryBuilderTests.items() + [
            .create(
                DocumentPath("all/types"),
                [
                    "array": .array([.integer(1), .string("#fd1c48")]), "boolean": .boolean(true), "bytes": .bytes([1, 2]),
                    "map": .map(["a": .null]), "place": .geoPoint(GeoPoint(validatingLatitude: 1, longitude: 2)),
                    "reference": .reference(DocumentPath("books/hitchhiker")), "vector": .vector([1, 2]),
                ]
            ), .create(DocumentPath("all/types/below/b"), ["n": .integer(1)]),
            .create(DocumentPath("many/colors"), ["list": .array(Array(repeating: .string("#fd1c48"), count: 1_001))]),
        ]
    }

    private static let addresses = [
        "/admin/data/books?cells=filters", "/admin/query?view=json",
        "/admin/query?in=books&m=all&m=any&g=0&f=author&op=%3D%3D&t=string&v=Peter&g=1&f=title&op=prefix&t=string&v=S&o=title&d=desc&p=",
        "/admin/query?in=books&offset=1&explain=1", "/admin/query?in=books&offset=1", "/admin/query?in=a/b",
        "/admin/query?in=many&group=1",
        "/admin/query?in=books&g=0&f=author&op=%3D%3D&t=string&v=none&o=title&d=asc&p=&explain=1",
        "/admin/query?in=books&g=0&f=a&op=%3D%3D&t=integer&v=x&o=a&d=nearest&p=x&limit=x&offset=x",
        "/admin/", "/admin/?new", "/admin/?new&below=books/hitchhiker",
        "/admin/nothing", "/admin/data/books", "/admin/data/books?after=hitchhiker&size=25",
        "/admin/data/empty",
        "/admin/data/books?where=numberOfPages%20%3E%3D%20200&order=-numberOfPages&cols=title",
        "/admin/data/books?f=numberOfPages&op=%3E&t=integer&v=many", "/admin/data/books?view=types",
        "/admin/data/colors?view=colors", "/admin/data/many?view=colors", "/admin/data/colors?view=json",
        "/admin/data/locations?view=map&box=-123,38,1",
        "/admin/data/locations?view=map", "/admin/data/books/__reserved__", "/admin/data/books/does-not-exist",
        "/admin/data/all/types", "/admin/data/all/types?view=json", "/admin/data/books/hitchhiker?history",
        "/admin/data/all/types?edit", "/admin/data/all/types?value=boolean", "/admin/data/all?edit=found", "/admin/data/all?new",
        "/admin/data/all/types?delete", "/admin/data/all?delete",
        "/admin/data/books?delete=found&where=numberOfPages%20%3E%3D%20200", "/admin/import", "/admin/jobs", "/admin/keys",
        "/admin/settings", "/admin/query", "/rpc/docs", "/admin/find", "/admin/find?q=books/x", "/admin/find?q=all",
        "/admin/find?q=types&from=books", "/admin/find?q=nothing", "/admin/find?q=..",
        "/admin/find?below=all", "/admin/find?below=books", "/admin/data/books?position=x",
        "/admin/data/books/hitchhiker?references", "/admin/data/books/hitchhiker-tags?references",
        "/admin/data/books?view=panels&document=hitchhiker", "/admin/data/all?view=panels&document=types",
        "/admin/data/books?view=panels",
    ]

    private static let queries = [
        #"{"collection": "books"}"#, #"{"collection": "books", "aggregations": [{"count": {}, "alias": "n"}]}"#,
        #"{"collection": "books", "limit": "x"}"#,
    ]

    /// The names of the view models and pages in the sources.
    private static func viewModelNames() throws -> Set<String> {
        var names: Set<String> = []
        try SourceStrings.forEachFile(in: "Sources/HearthAdmin", suffix: ".swift") { _, text in
            names.formUnion(text.matches(of: /struct (\w+): (?:ViewModel|Page) \{/).map { String($0.1) })
        }
        return names
    }

    /// The names of the stored properties of a view model in the sources.
    private static func memberNames(of type: String) throws -> Set<String> {
        var names: Set<String> = []
        try SourceStrings.forEachFile(in: "Sources/HearthAdmin", suffix: "/\(type).swift") { _, text in
            names.formUnion(text.matches(of: /(?:let|var) (\w+):/).map { String($0.1) })
        }
        return names
    }

    /// The names in the tags of all templates.
    private static func templateNames() throws -> Set<String> {
        var names: Set<String> = []
        try SourceStrings.forEachFile(in: "Templates", suffix: ".mustache") { _, text in
            names.formUnion(text.matches(of: /\{\{[{#^\/]?([A-Za-z]\w*)\}\}/).map { String($0.1) })
        }
        return names.subtracting(["main", "side", "scripts", "note", "tools", "layout", "markup"])
    }
}

/// The names that templates looked up.
private final class TemplateLookups: Sendable {
    private struct State {
        var members: [String: Set<String>] = [:]
        var used: [String: Set<String>] = [:]
    }

    private let state = Mutex(State())

    /// Records a lookup.
    @Sendable
    func record(_ context: TemplateContext, _ name: String) {
        var members = Set(context.members.keys)
        // The properties that every page has are for the layout and the response.
        if context.model is any Page.Type { members.subtract(["layout", "retryDelay", "status"]) }
        let model = String(reflecting: context.model)
        state.withLock { state in
            state.members[model] = members
            if members.contains(name) { state.used[model, default: []].insert(name) }
        }
    }

    /// The names of the view models' types, without the types that contain them.
    var modelNames: Set<String> {
        state.withLock { state in Set(state.members.keys.compactMap { $0.split(separator: ".").last.map(String.init) }) }
    }

    /// The names of the members of all view models that were rendered.
    var memberNames: Set<String> { state.withLock { $0.members.values.reduce(into: []) { $0.formUnion($1) } } }

    /// The members that were never looked up, with the types of their view models.
    var unusedMembers: [(model: String, name: String)] {
        state.withLock { state in
            state.members.flatMap { model, members in members.subtracting(state.used[model] ?? []).map { (model, $0) } }
        }
    }
}

/// Pages in states that few requests produce.
private struct PageSamples {
    let site: TestSite

    private func show(_ page: any Page, as principal: Principal = Principal(caller: .openAccess)) async {
        let http = PageRequest(
            method: .get,
            path: "/admin/data/books/hitchhiker",
            cookies: ["flash=saved.1.2"],
            principal: principal
        )
        let request = AdminRequest(
            http,
            context: site.pages.context,
            environment: site.pages.environment,
            secret: TestSite.csrfSecret
        )
        _ = await request.respond(with: page)
    }

    private var now: Timestamp { site.pages.dependencies.now() }

    func showForms() async throws {
        var problems = FormProblems()
        problems.add("Invalid.", at: "json")
        let editor = EditorContext(EditTarget(try DocumentPath("a/b")), base: DocumentRevision(nil), problems: problems)
        await show(
            JSONEditorPage(editor, text: "{,", errorExcerpt: JSONEditorPage.ErrorExcerpt(in: "{,", line: 1, column: 2))
        )
        let selected = SelectedDocument(path: try DocumentPath("a/b"), updateTime: now)
        let below = DocumentCountEstimate(count: 1)
        await show(DeletePage(.selection([selected], in: try CollectionPath("a"), below: below), at: now))
        let form = PendingForm(url: "/admin/keys", fields: [(name: "label", value: "x")])
        await show(SignInPage(status: .unauthorized, next: ReturnURL("/admin/"), pendingForm: form))
        await show(SignInPage(continuing: form, next: ReturnURL("/admin/")))
    }

    func showJobs() async throws {
        let path = try DocumentPath("a/b")
        for isFinished in [false, true] {
            let job = BackgroundJob(
                .deleting,
                of: "a",
                in: .standard,
                id: "1",
                for: Principal(caller: .openAccess),
                returnURL: "/admin/",
                at: now,
                errors: .silent
            )
            job.update { progress in
                progress.totalCount = 9
                progress.isFinished = isFinished
                progress.keptPaths.append(path)
                progress.itemErrors.append(BackgroundJob.ItemError(location: "a/c", message: "Unreadable."))
            }
            await show(JobPage(job, now: now))
            await show(JobsPage([job], busyDatabases: [.standard], now: now))
        }
    }

    func showServer() async throws {
        try ActivityPageTests.record(on: site)
        let log = site.pages.context.server.slowCalls
        _ = await site.get("/admin/activity/slow-calls")
        log.threshold = .seconds(1)
        var facts = RequestTrace(requestID: "1").facts
        facts.database = .standard
        log.add(.init(time: now, duration: .seconds(2), request: "GET /", status: 500, requestID: "1", facts: facts))
        for address in ["/admin/activity", "/admin/activity/slow-calls", "/admin/log", "/admin/log?q=nothing", "/admin/backups"] {
            _ = await site.get(address)
        }
        let backup = Backup(
            name: "2026-01-02T03-04-05Z",
            startTime: now,
            endTime: now,
            version: "1",
            databases: [],
            fileCount: 10,
            byteCount: 10,
            includesKeys: true
        )
        let status = BackupStatus(
            runningSince: now,
            fileCount: 3,
            lastFailure: (now, StatusError(.resourceExhausted, "The disk is full."))
        )
        let verifications = BackupVerifications(latest: [.init(backup: backup.name, time: now, faultCount: 2)])
        await show(BackupsPage(BackupList(backups: [backup], status: status, verifications: verifications), now: now))
    }

    func showAccess() async throws {
        let key = try await site.keys.create(.init(role: .admin, label: "label"))
        let session = try await site.pages.context.sessions.start(
            with: Array(key.text.utf8),
            from: "127.0.0.1",
            isSecure: false,
            failures: FailedAttemptLimiter(limit: 10)
        ).session
        let principal = Principal(caller: session.caller, session: session)
        await show(KeysPage(site.keys.all, currentKeyID: nil, now: now), as: principal)
        await show(RevokeKeyPage(key.key, isCurrent: true, isLastAdmin: false, now: now), as: principal)
        var problems = FormProblems()
        problems.add("Taken.", at: "name")
        let other = try DatabaseID(project: "hearth", database: "tests")
        await show(DatabasesPage([.standard, other], canManage: true, input: "tests", problems: problems), as: principal)
        await show(DeleteDatabasePage(other, size: .zero, input: "x", problems: problems), as: principal)
        let collection = try CollectionID("books")
        var report = IndexReport()
        let fields = [IndexDefinition.Field(try FieldPath("a")), IndexDefinition.Field(try FieldPath("b"))]
        let definition = try IndexDefinition(collection: collection, fields: fields)
        report.indexes = [("id", definition, .unavailable(reason: "The disk is full."))]
        report.exemptions = [try IndexExemption(collection: collection, field: FieldPath("a"))]
        report.backfills = [(collection, .building(documents: 1))]
        await show(RemoveIndexPage(IndexView("id", definition, .ready), problems: problems), as: principal)
        let sessions = [SessionView(session, keys: site.keys.all, current: session, now: now)]
        await show(SettingsPage(indexes: report, sessions: sessions, limits: [LimitView("Size", "1 MiB")]), as: principal)
    }

    func showConflict() async throws {
        let path = try DocumentPath("books/hitchhiker")
        let theirs = try #require(try await site.store.document(at: path))
        let conflict = ConflictPage.Conflict(
            path: path,
            base: DocumentRevision(theirs),
            baseFields: ["n": .integer(0)],
            theirs: theirs,
            theirFields: ["n": .integer(1)],
            yours: ["n": .integer(2)]
        )
        await show(ConflictPage(conflict, EditTarget(path), isIncomplete: true, now: now))
    }

    func showImport() async throws {
        let lines = """
            {"path":"a/1","fields":{}}
            {"path":"a/1","fields":{}}
            {"path":"a/2"}
            """
        let upload = UploadStore.Upload(
            id: "u",
            owner: "anybody",
            database: .standard,
            file: try await UploadedFile.make(Array(lines.utf8), name: "x.ndjson"),
            options: ImportOptions()
        )
        let job = BackgroundJob(
            .checking,
            of: "x.ndjson",
            in: .standard,
            id: "w",
            for: Principal(caller: .openAccess),
            returnURL: "/",
            at: now,
            errors: .silent
        )
        let preview = try await ImportPreview.make(of: upload, in: site.pages.context, for: job)
        await show(ImportPage(preview: PreviewedUpload(upload, preview)))
    }

    func showRules() async throws {
        let url = "/admin/rules"
        _ = await site.get(url)
        let broken = "service cloud.firestore {"
        let first =
            "service cloud.firestore { match /databases/{d}/documents { match /a/{b} { allow read: if exists(/x/$(d)); } } }"
        let second = RulesTestData.rules("match /a/{b} { allow get: if debug(exists(/databases/$(d)/documents/x/y)); }")
        for text in [first, second] {
            let state = try await RulesState(of: site.pages.context)
            _ = try await SetRules.call(.text(text, .version(state.stored.version)), in: site.pages.context)
        }
        let anonymous = site.pages.context.withCaller(.anonymous)
        for path in ["a/b", "c/d"] { _ = try? await GetDocument.document(.init(path: DocumentPath(path)), in: anonymous) }
        _ = await site.get(url)
        let history = try await site.pages.context.rules.history()
        _ = await site.get("\(url)?version=\(try #require(history.versions.first).version)")
        for action in ["check", "deploy"] {
            _ = await site.post(url, "do=\(action)&base=&rules=" + PercentEncoding.encode(UTF8Key(broken)))
            _ = await site.post(url, "do=\(action)&base=&rules=" + PercentEncoding.encode(UTF8Key(first)))
        }
        let rules = PercentEncoding.encode(UTF8Key(second))
        for request in ["method=get&path=a/b", "method=list&path=a", "method=create&path=&signed-in=1&claims=%5B&data=%5B"] {
            _ = await site.post("\(url)/playground", "do=run&rules=\(rules)&\(request)")
        }
        _ = await site.post(
            "\(url)/playground",
            "do=run&method=list&path=a&query=%5B&rules=" + PercentEncoding.encode(UTF8Key(broken))
        )
        let file = site.folder.appending(path: "firestore.rules")
        try Data(broken.utf8).write(to: file)
        try Data("{".utf8).write(to: site.folder.appending(path: "rules-history.json"))
        let state = RulesState(
            active: nil,
            stored: try await site.pages.context.rules.stored(),
            problem: StatusError(.invalidArgument, "The rules do not compile."),
            denials: site.pages.context.rules.denials,
            history: nil,
            historyProblem: StatusError(.dataLoss, "Damaged."),
            locksOut: true
        )
        await show(RulesPage(state, now: now))
    }

    func showDamage() async throws {
        let path = try DocumentPath("books/hitchhiker")
        let file = site.folder.appending(path: "documents/books/hitchhiker.json")
        try Data("{,}".utf8).write(to: file)
        for address in ["", "/hitchhiker", "/hitchhiker?history"] { _ = await site.get("/admin/data/books\(address)") }
        let found = [DocumentVersion(commitTime: now, document: nil)]
        let page = try HistoryPage(path, found, hasMore: true, state: .readable(nil), before: now, keys: [], now: now)
        await show(page)
        await show(
            DamagedExportPage(PageRequest(method: .get, path: "/"), of: path.collection, [StatusError(.dataLoss, "Damaged.")])
        )
        let problem = FileProblem(.rejected, "Damaged.", document: path, file: .init(path: "documents/a", line: 1, column: 2))
        await show(
            OverviewPage(
                await GetServerInfo.call((), in: site.pages.context),
                databases: [],
                roots: nil,
                fileProblems: FileProblemReport(problems: [problem], count: 2),
                cards: [],
                hasExamples: false,
                log: [],
                hasBackups: true,
                commands: ShellCommands(host: "a", needsKey: false),
                now: now
            )
        )
    }

    func showRebuild() async {
        var error = StatusError(.unavailable, "The index is being rebuilt.")
        error.progress = .init(completedCount: 1, totalCount: 2, fraction: 0.5, timeLeft: .seconds(7))
        await show(ErrorPage(error))
    }
}
