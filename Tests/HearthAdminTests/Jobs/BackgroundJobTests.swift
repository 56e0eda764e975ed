import DocumentModel
import DocumentStore
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Background jobs")
struct BackgroundJobTests {
    private static func job(_ kind: BackgroundJob.Kind, of subject: String = "books") -> BackgroundJob {
        BackgroundJob(
            kind,
            of: subject,
            in: .standard,
            id: "1",
            for: Principal(caller: .openAccess),
            returnURL: "/admin/data/books",
            at: .minimum,
            errors: .silent
        )
    }

    private static func request(of site: TestSite) -> AdminRequest {
        AdminRequest(
            PageRequest(path: "/admin/jobs/1"),
            context: site.pages.context,
            environment: site.pages.environment,
            secret: site.pages.dependencies.csrfSecret
        )
    }

    @Test(
        arguments: [(nil, "7 documents imported"), (50_000, "7 of 50,000 documents"), (5, "7 documents imported")]
            as [(Int?, String)]
    )
    func `The page of a running job shows its total, unless more was processed`(total: Int?, text: String) async throws {
        let job = Self.job(.importing, of: "x.ndjson")
        job.update { ($0.completedCount, $0.totalCount) = (7, total) }
        try await TestSite.with { site in
            let request = Self.request(of: site)
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
        let job = Self.job(.deleting)
        job.update { ($0.completedCount, $0.totalCount) = (count, 1_000) }
        let now = try Timestamp(microseconds: Timestamp.minimum.microseconds + seconds * 1_000_000)
        try await TestSite.with { site in
            let request = Self.request(of: site)
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

    @Test
    func `The duration of a finished job is listed, and the page of one that has undone another says what its undo does`()
        async throws
    {
        let job = Self.job(.restoring)
        await job.run { () async throws(StatusError) in
            job.record(CommitResult(sequence: SequenceNumber(1), commitTime: .minimum, writeResults: [])) {
                $0.completedCount = 1
            }
            job.cancel()
        }
        let duration = job.duration
        #expect(job.duration == duration)
        try await TestSite.with { site in
            let request = Self.request(of: site)
            let list = try HTMLPage(await request.respond(with: JobsPage([job], busyDatabases: [], now: .minimum)).body)
            #expect(try list.texts("//tbody/tr/td[4]") == [RelativeTime.text(of: duration)])
            let page = try HTMLPage(await request.respond(with: JobPage(job, now: .minimum)).body)
            #expect(
                try page.one("//form[contains(@class,'report')]/p").text.hasPrefix("Undo takes back what this job has restored.")
            )
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
