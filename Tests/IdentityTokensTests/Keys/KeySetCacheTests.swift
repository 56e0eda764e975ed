import DocumentModel
import Testing
import UTF8Text

@testable import IdentityTokens

@Suite("Cached key sets")
struct KeySetCacheTests {
    // A valid configuration.
    private let issuer = try! TokenIssuer(
        "https://id.example.org",
        audiences: ["hearth"],
        algorithms: [.es256, .eddsa],
        keySource: .keySetURL(HTTPSURL("https://id.example.org/keys"))
    )
    private let server = KeySetServer([SigningKey.p256.jwk("ec")])

    private func keyIDs(_ loaded: LoadedKeySet?) -> Set<UTF8Key?> {
        Set(loaded?.keys.identities.map(\.id) ?? [])
    }

    @Test
    func `Keys are fetched when they are first needed`() async {
        let cache = server.makeCache()
        #expect(server.fetchCount == 0)
        #expect(keyIDs(await cache.keySet(of: issuer)) == ["ec"])
        #expect(keyIDs(await cache.keySet(of: issuer)) == ["ec"])
        #expect(server.fetchCount == 1)
    }

    @Test
    func `Concurrent callers share one fetch`() async {
        let cache = server.makeCache()
        await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { await cache.keySet(of: issuer)?.generation } }
            for await generation in group { #expect(generation == 1) }
        }
        #expect(server.fetchCount == 1)
    }

    @Test(
        arguments: [
            (nil, 2_880, 3_600), (.zero, 240, 300), (.seconds(-5), 240, 300), (.seconds(1_000), 800, 1_000),
            (.seconds(1_000_000_000), 69_120, 86_400),
        ] as [(Duration?, Int, Int)]
    )
    func `The lifetime is bounded, and keys are refreshed in the background before it ends`(
        maxAge: Duration?,
        refresh: Int,
        end: Int
    ) async {
        server.serve([SigningKey.p256.jwk("ec")], maxAge: maxAge)
        let cache = server.makeCache()
        _ = await cache.keySet(of: issuer)
        server.serve([SigningKey.ed25519.jwk("ed")], maxAge: maxAge)
        server.advance(by: .seconds(refresh - 1))
        #expect(keyIDs(await cache.keySet(of: issuer)) == ["ec"])
        #expect(cache.generation(of: issuer) == 1)
        #expect(server.fetchCount == 1)
        server.advance(by: .seconds(1))
        _ = cache.generation(of: issuer)
        await cache.refreshIfDue(issuer)
        #expect(server.fetchCount == 2)
        #expect(cache.generation(of: issuer) == 2)
        #expect(keyIDs(await cache.keySet(of: issuer)) == ["ed"])
        server.serve([SigningKey.p256.jwk("ec2")], maxAge: maxAge)
        server.advance(by: .seconds(end))
        #expect(keyIDs(await cache.keySet(of: issuer)) == ["ec2"])
        #expect(server.fetchCount == 3)
    }

    @Test(arguments: [nil, "<html>", #"{"keys":[]}"#, #"{"keys":[{"kty":"EC"}]}"#])
    func `The last good keys stay in use while refreshing fails, at most once a minute`(body: String?) async {
        let cache = server.makeCache()
        _ = await cache.keySet(of: issuer)
        if let body { server.serve(text: body) } else { server.serve(nil) }
        server.advance(by: .seconds(3_600))
        for _ in 0..<3 { #expect(keyIDs(await cache.keySet(of: issuer)) == ["ec"]) }
        #expect(server.fetchCount == 2)
        server.advance(by: .seconds(60))
        #expect(keyIDs(await cache.keySet(of: issuer)) == ["ec"])
        #expect(server.fetchCount == 3)
        #expect(cache.generation(of: issuer) == 1)
        server.serve([SigningKey.ed25519.jwk("ed")])
        server.advance(by: .seconds(60))
        #expect(keyIDs(await cache.keySet(of: issuer)) == ["ed"])
    }

    @Test
    func `Without keys, a fetch is repeated after ten seconds`() async {
        server.serve(nil)
        let cache = server.makeCache()
        for _ in 0..<3 { #expect(await cache.keySet(of: issuer) == nil) }
        #expect(cache.generation(of: issuer) == nil)
        #expect(server.fetchCount == 1)
        server.advance(by: .seconds(10))
        server.serve([SigningKey.p256.jwk("ec")])
        #expect(await cache.keySet(of: issuer) != nil)
        #expect(server.fetchCount == 2)
    }

    @Test(arguments: [true, false])
    func `A fetch ends after its time limit, and the last keys stay in use`(hasKeys: Bool) async {
        let cache = server.makeCache(timeLimitPasses: true)
        if hasKeys {
            // The time limit and the response race: set the keys directly.
            #expect(throws: Never.self) {
                try cache.update(issuer, to: Array(TokenFixtures.set([SigningKey.p256.jwk("ec")]).utf8))
            }
            server.advance(by: .seconds(3_600))
        }
        server.hang()
        #expect((await cache.keySet(of: issuer) != nil) == hasKeys)
        guard case .failed(_, let error as StatusError)? = server.events.last else {
            Issue.record("The failure is reported")
            return
        }
        #expect(error.code == .deadlineExceeded)
        #expect(error.message == "The key set was not received within 5 seconds.")
    }

    @Test
    func `The same keys do not change the generation, whatever their order and text`() async {
        server.serve([SigningKey.p256.jwk("ec"), SigningKey.ed25519.jwk("ed")])
        let cache = server.makeCache()
        _ = await cache.keySet(of: issuer)
        server.serve([SigningKey.ed25519.jwk("ed", #""use":"sig""#), SigningKey.p256.jwk("ec")])
        server.advance(by: .seconds(3_600))
        #expect(await cache.keySet(of: issuer)?.generation == 1)
        server.serve([SigningKey.ed25519.jwk("ec"), SigningKey.p256.jwk("ed")])
        server.advance(by: .seconds(3_600))
        #expect(await cache.keySet(of: issuer)?.generation == 2)
    }

    @Test
    func `An unknown key causes at most one fetch a minute`() async {
        let cache = server.makeCache()
        _ = await cache.keySet(of: issuer)
        #expect(await cache.refresh(issuer, after: 1) == nil)
        #expect(server.fetchCount == 1)
        server.advance(by: .seconds(60))
        for _ in 0..<10 { #expect(await cache.refresh(issuer, after: 1) == nil) }
        #expect(server.fetchCount == 2)
        server.advance(by: .seconds(60))
        server.serve([SigningKey.ed25519.jwk("ed")])
        #expect(keyIDs(await cache.refresh(issuer, after: 1)) == ["ed"])
        // The keys have already changed.
        server.advance(by: .seconds(60))
        #expect(keyIDs(await cache.refresh(issuer, after: 1)) == ["ed"])
        #expect(server.fetchCount == 3)
    }

    @Test
    func `Keys from files are replaced, never fetched, and kept if the new file is invalid`() async throws {
        let file = TokenFixtures.issuer
        let cache = server.makeCache()
        #expect(await cache.keySet(of: file) == nil)
        try cache.update(file, to: Array(TokenFixtures.set([SigningKey.p256.jwk("a")]).utf8))
        #expect(cache.generation(of: file) == 1)
        #expect(throws: StatusError.self) { try cache.update(file, to: Array("{}".utf8)) }
        server.advance(by: .seconds(1_000_000))
        #expect(keyIDs(await cache.keySet(of: file)) == ["a"])
        try cache.update(file, to: Array(TokenFixtures.set([SigningKey.p256.jwk("b")]).utf8))
        #expect(keyIDs(await cache.keySet(of: file)) == ["b"])
        #expect(await cache.refresh(file, after: 2) == nil)
        #expect(server.fetchCount == 0)
    }

    @Test
    func `Loads and failures are reported with the skipped keys`() async {
        server.serve([SigningKey.p256.jwk("ec"), SigningKey.rsa.jwk("rsa")])
        let cache = server.makeCache()
        await cache.refreshIfDue(issuer)
        server.advance(by: .seconds(3_600))
        await cache.refreshIfDue(issuer)
        server.serve(nil)
        server.advance(by: .seconds(3_600))
        await cache.refreshIfDue(issuer)
        let events = server.events.map { event in
            switch event {
            case .loaded(let issuer, let keys, let hasChanged):
                "\(issuer.issuer): \(keys.count), \(hasChanged), \(keys.skippedKeys.map(\.description))"
            case .failed(let issuer, let error): "\(issuer.issuer): \(error)"
            }
        }
        let skipped = #"["keys[1] (\"rsa\"): the issuer is not configured for RS256"]"#
        #expect(
            events == [
                "https://id.example.org: 1, true, \(skipped)", "https://id.example.org: 1, false, \(skipped)",
                "https://id.example.org: Failure()",
            ]
        )
    }
}
