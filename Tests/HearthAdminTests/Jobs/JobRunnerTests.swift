import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Job runner")
struct JobRunnerTests {
    /// Starts a job for each principal that runs until `body` returns, and passes the errors of those that could not be started.
    private static func with(
        _ principals: [Principal],
        on site: TestSite,
        in database: DatabaseID? = nil,
        _ body: ([JobRunner.StartError?]) async throws -> Void
    ) async throws {
        var jobs: [BackgroundJob] = []
        var errors: [JobRunner.StartError?] = []
        let (signal, continuation) = AsyncStream<Never>.makeStream()
        for (number, principal) in principals.enumerated() {
            let job = BackgroundJob(
                .deleting,
                of: "books/<b>\(number)",
                in: database ?? site.pages.context.databaseName,
                id: UTF8Key("w\(number)"),
                for: principal,
                returnURL: "/admin/",
                at: .current(),
                errors: .silent
            )
            do throws(JobRunner.StartError) {
                try site.pages.jobRunner.start(job) { job throws(StatusError) in
                    job.update { $0.completedCount = 1_234 }
                    for await _ in signal {}
                }
                jobs.append(job)
                errors.append(nil)
            } catch {
                errors.append(error)
            }
        }
        try await body(errors)
        continuation.finish()
        for job in jobs { await job.wait(atMost: .seconds(600)) }
    }

    private static func principal(_ network: UTF8Key) -> Principal { Principal(caller: .openAccess, network: network) }

    @Test
    func `Concurrent jobs are limited to two per owner and four in total`() async throws {
        let principals: [UTF8Key] = ["a", "a", "a", "b", "b", "b", "c"]
        try await TestSite.with { site in
            try await Self.with(principals.map(Self.principal), on: site) { errors in
                #expect(errors == [nil, nil, .tooManyJobsForOwner, nil, nil, .tooManyJobsForOwner, .tooManyJobs])
            }
        }
    }

    @Test
    func `A form whose job cannot be started is shown again with its input and a link to the jobs`() async throws {
        try await TestSite.with([.create(DocumentPath("a/b"), [:])]) { site in
            let form = try BrowserForm(await site.page("/admin/data/a?delete"), "//form[@class='entry']").with(["name": "a"])
            try await Self.with([Principal(caller: .openAccess), Principal(caller: .openAccess)], on: site) { _ in
                let response = await site.post("/admin/data/a?delete", form.text)
                #expect(response.status == .tooManyRequests)
                let page = try HTMLPage(response.body)
                #expect(page.parseErrors == [])
                #expect(try page.one("//*[@id='problems']//a")["href"] == "/admin/jobs")
                #expect(try page.one("//*[@id='problems']").text.contains("the maximum number of background jobs: 2."))
                #expect(try page.one("//input[@id='name']")["value"] == "a")
                #expect(try await site.store.document(at: DocumentPath("a/b")) != nil)
            }
        }
    }

    @Test
    func `A job that was stopped leads to its page instead of a message of success`() async throws {
        try await TestSite.with { site in
            let request = AdminRequest(
                PageRequest(path: "/admin/backups"),
                context: site.pages.context,
                environment: site.pages.environment,
                secret: site.pages.dependencies.csrfSecret
            )
            for isStopped in [false, true] {
                let id: UTF8Key = isStopped ? "stopped" : "complete"
                let result = try await site.pages.jobRunner.start(
                    .verifying,
                    of: "x",
                    id: id,
                    for: request,
                    returnURL: "/admin/backups",
                    flash: { _ in .backupVerified }
                ) { if isStopped { $0.cancel() } }
                guard case .redirect(let url, let flash) = result else {
                    Issue.record("no redirect")
                    continue
                }
                #expect(url == (isStopped ? "/admin/jobs/stopped" : "/admin/backups"))
                #expect((flash == nil) == isStopped)
            }
            // One that has finished cannot be stopped.
            let job = try #require(
                site.pages.jobRunner.job("complete", for: .openAccess, in: site.pages.context.databaseName)
            )
            job.cancel()
            #expect(!job.isCancelled)
        }
    }

    @Test
    func `The list links to the jobs that the caller may see`() async throws {
        try await TestSite.with { site in
            #expect(try await site.page("/admin/jobs").all("//p[@class='empty']").count == 1)
            #expect(await site.get("/admin/jobs/").headers[.location] == "/admin/jobs")
            try await Self.with([Principal(caller: .openAccess), Principal(caller: .system)], on: site) { _ in
                var page = try await site.page("/admin/jobs")
                while try !page.texts("//tbody/tr/td[1]").allSatisfy({ $0 == "1,234 documents deleted" }) {
                    page = try await site.page("/admin/jobs")
                }
                #expect(page.parseErrors == [])
                #expect(try page.all("//tbody//th/a").map { $0["href"] } == ["/admin/jobs/w1", "/admin/jobs/w0"])
                #expect(try page.texts("//tbody//th/a") == ["Deleting · books/<b>1", "Deleting · books/<b>0"])
                #expect(try page.all("//*[@data-refreshes]").count == 1)
                let note = try #require(page.texts("//p[@class='note']").last)
                #expect(note.hasPrefix("At most 4 jobs run at a time, at most 2 of them yours."))
                let own = try await site.page("/admin/jobs/w1")
                #expect(own.parseErrors == [])
                #expect(try own.one("//h1").text == "Deleting · books/<b>1")
            }
        }
    }

    @Test
    func `Jobs are listed only in their database; other databases with running jobs are linked`() async throws {
        try await TestSite.with { site in
            let other = try DatabaseID(project: "hearth", database: "other")
            try await Self.with([Principal(caller: .openAccess)], on: site, in: other) { _ in
                let page = try await site.page("/admin/jobs")
                #expect(page.parseErrors == [])
                #expect(try page.all("//tbody/tr").isEmpty)
                #expect(
                    try page.all("//section[@aria-labelledby='elsewhere']//a").map { $0["href"] } == [
                        AdminURL.jobs(in: other)
                    ]
                )
                #expect(await site.get("/admin/jobs/w0").status == .notFound)
                let jobRunner = site.pages.jobRunner
                #expect(try await jobRunner.jobs(for: .openAccess, in: other).map(\.id) == ["w0"])
                #expect(jobRunner.busyDatabases(for: .openAccess, excluding: other).isEmpty)
                #expect(await site.post("/admin/jobs/w0", "").status == .notFound)
            }
            #expect(try await site.page("/admin/jobs").all("//section[@aria-labelledby='elsewhere']").isEmpty)
        }
    }

    @Test(
        arguments: [
            ("/admin/work", "/admin/jobs"), ("/admin/work/", "/admin/jobs"), ("/admin/work/w0", "/admin/jobs/w0"),
            ("/admin/work/a%2Fb", "/admin/jobs/a%2Fb"), ("/admin/jobs/", "/admin/jobs"),
        ]
    )
    func `The former URLs of jobs redirect to the current ones`(url: String, location: String) async throws {
        try await TestSite.with { site in
            let response = await site.get(url)
            #expect(response.status == .temporaryRedirect)
            #expect(response.headers[.location] == location)
        }
    }

    @Test
    func `The former URLs of jobs redirect within their database`() throws {
        let other = try DatabaseID(project: "hearth", database: "other")
        AdminURL.$database.withValue(other) {
            #expect(AdminRoute(rawPath: "/admin/work") == .moved("/admin/databases/hearth/other/jobs"))
            #expect(AdminRoute(rawPath: "/admin/work/w0") == .moved("/admin/databases/hearth/other/jobs/w0"))
        }
    }
}
