import DocumentModel
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Background jobs")
struct BackgroundJobTests {
    @Test(
        arguments: [(nil, "7 documents imported"), (50_000, "7 of 50,000 documents"), (5, "7 documents imported")]
            as [(Int?, String)]
    )
    func `The page of a running job shows its total, unless more was processed`(total: Int?, text: String) async throws {
        let job = BackgroundJob(
            .importing,
            of: "x.ndjson",
            in: .standard,
            id: "1",
            for: Principal(caller: .openAccess),
            returnURL: "/admin/data/books",
            at: .minimum,
            errors: .silent
        )
        job.update { ($0.completedCount, $0.totalCount) = (7, total) }
        try await TestSite.with { site in
            let request = AdminRequest(
                PageRequest(path: "/admin/jobs/1"),
                context: site.pages.context,
                environment: site.pages.environment,
                secret: site.pages.dependencies.csrfSecret
            )
            let page = try HTMLPage(await request.respond(with: JobPage(job, now: .minimum)).body)
            #expect(try page.one("//p[@class='job-count']").text == text)
            #expect(try page.all("//progress").count == (total == 50_000 ? 1 : 0))
        }
    }

    @Test(
        arguments: [
            (0, 10, "0 %"), (1, 1_000, "0 %, 11 days left"), (250, 300, "25 %, 15 minutes left"), (250, 1, "25 %"),
            (1_000, 10, "100 %"),
        ] as [(Int, Int64, String)]
    )
    func `The time left is estimated from the share and the time so far`(count: Int, seconds: Int64, text: String) async throws {
        let job = BackgroundJob(
            .deleting,
            of: "books",
            in: .standard,
            id: "1",
            for: Principal(caller: .openAccess),
            returnURL: "/admin/",
            at: .minimum,
            errors: .silent
        )
        job.update { ($0.completedCount, $0.totalCount) = (count, 1_000) }
        let now = try Timestamp(microseconds: Timestamp.minimum.microseconds + seconds * 1_000_000)
        try await TestSite.with { site in
            let request = AdminRequest(
                PageRequest(path: "/admin/jobs/1"),
                context: site.pages.context,
                environment: site.pages.environment,
                secret: site.pages.dependencies.csrfSecret
            )
            let responses = [
                await request.respond(with: JobPage(job, now: now)),
                await request.respond(with: JobsPage([job], busyDatabases: [], now: now)),
            ]
            for response in responses {
                let page = try HTMLPage(response.body)
                #expect(try page.one("//progress")["max"] == "1000")
                #expect(try page.texts("//*[@class='job-progress']/span") == [text])
            }
        }
    }

    @Test(
        arguments: [(.min, 0), (-1, 0), (2, 0), (5, 2), (.max, .max - 3)] as [(Int, Int)]
    )
    func `The unmatched count is computed from any confirmed count`(confirmedCount: Int, unmatchedCount: Int) {
        var progress = BackgroundJob.Progress()
        (progress.completedCount, progress.alreadyDeletedCount) = (2, 1)
        progress.countUnmatched(ofConfirmed: confirmedCount)
        #expect(progress.unmatchedCount == unmatchedCount)
    }
}
