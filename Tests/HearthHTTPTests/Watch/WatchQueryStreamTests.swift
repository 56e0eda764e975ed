import DocumentModel
import DocumentStore
import HearthAPI
import HearthHTTP
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

/// Watch streams of queries.
@Suite(.timeLimit(.minutes(10))) struct WatchQueryStreamTests {
    private static let query = #"""
        {"collection": "books", "where": {"field": "pages", "op": ">", "value": 100},
         "orderBy": [{"field": "pages", "direction": "desc"}], "limit": 2, "select": ["title"]}
        """#

    @Test(arguments: [true, false])
    func `A query in a URL or a body streams its results with indexes, additions and removals`(isPost: Bool) async throws {
        try await withServer { server in
            try await server.set("books/a", ["pages": .integer(200), "title": .string("A")])
            try await server.set("books/b", ["pages": .integer(300), "title": .string("B")])
            try await server.set("books/c", ["pages": .integer(50), "title": .string("C")])
            try await withConnection(to: server) { connection in
                let request =
                    isPost
                    ? RawConnection.request(
                        "POST",
                        "/watch",
                        ["Content-Type: application/json"],
                        body: #"{"query": \#(Self.query), "include": "paths", "heartbeat": 60}"#
                    )
                    : RawConnection.request(
                        "GET",
                        "/watch?heartbeat=60&include=paths&query=\(PercentEncoding.encode(UTF8Key(Self.query)))"
                    )
                try await connection.send(request)
                #expect(try await connection.responseHead().status == 200)
                _ = try await connection.chunk()
                #expect(
                    try await connection.chunk() == """
                        {"type":"added","path":"books/b","newIndex":0}
                        {"type":"added","path":"books/a","newIndex":1}

                        """
                )
                #expect(try await connection.chunk()?.contains(#""type":"current","seq":3,"count":2,"#) == true)
                try await server.set("books/c", ["pages": .integer(250), "title": .string("C")])
                let time = try #require(server.context.store.position.lastCommitTime?.rfc3339)
                let changes = try #require(try await connection.chunk())
                #expect(
                    changes.utf8.starts(
                        with: """
                            {"type":"removed","seq":4,"time":"\(time)","path":"books/a","oldIndex":1,"n":1,"of":2}
                            {"type":"added","seq":4,"time":"\(time)","path":"books/c","newIndex":1,"n":2,"of":2,"token":"
                            """.utf8
                    )
                )
            }
        }
    }

    @Test
    func `A removed document follows the members of its change, with the selected fields`() async throws {
        try await withServer { server in
            try await server.set("books/a", ["pages": .integer(200), "title": .string("A")])
            try await server.set("books/b", ["pages": .integer(300), "title": .string("B")])
            try await withConnection(to: server) { connection in
                let query = PercentEncoding.encode(UTF8Key(Self.query))
                try await connection.send(RawConnection.request("GET", "/watch?heartbeat=60&query=\(query)"))
                _ = try await connection.responseHead()
                _ = try await connection.receive(through: #""type":"current""#)
                // Displaces one document, and then changes the other.
                for (path, pages) in [("books/c", 250), ("books/b", 1)] as [(String, Int64)] {
                    let old = try DocumentPath(pages == 1 ? "books/b" : "books/a")
                    let displaced = try await GetDocument.document(.init(path: old), in: server.context)
                    try await server.set(path, ["pages": .integer(pages), "title": .string("New")])
                    let time = try #require(server.context.store.position.lastCommitTime?.rfc3339)
                    let (id, title, index) = pages == 1 ? ("b", "New", 0) : ("a", "A", 1)
                    let updateTime = pages == 1 ? time : displaced.updateTime.rfc3339
                    let members = #""oldIndex":\#(index),"n":1,"of":2,"document":{"#
                    let received = try await connection.receive(through: members)
                    #expect(received.hasSuffix(#""time":"\#(time)","path":"books/\#(id)","# + members))
                    let document = try await connection.receive(through: "}}\n")
                    #expect(
                        document == #""path":"books/\#(id)","fields":{"title":"\#(title)"},"#
                            + #""createTime":"\#(displaced.createTime.rfc3339)","updateTime":"\#(updateTime)"}}"# + "\n"
                    )
                }
            }
        }
    }

    @Test
    func `A projection applies to documents and before-images`() async throws {
        try await withServer { server in
            try await server.set("books/b", ["pages": .integer(300), "title": .string("B")])
            try await withConnection(to: server) { connection in
                let query = PercentEncoding.encode(UTF8Key(Self.query))
                try await connection.send(RawConnection.request("GET", "/watch?heartbeat=60&include=before&query=\(query)"))
                _ = try await connection.responseHead()
                _ = try await connection.chunk()
                #expect(try await connection.chunk()?.contains(#""fields":{"title":"B"},"#) == true)
                _ = try await connection.chunk()
                try await server.set("books/b", ["pages": .integer(301), "title": .string("B2")])
                let change = try #require(try await connection.chunk())
                #expect(change.contains(#""document":{"path":"books/b","fields":{"title":"B2"},"#))
                #expect(change.contains(#""before":{"path":"books/b","fields":{"title":"B"},"#))
                #expect(change.contains(#""oldIndex":0,"newIndex":0,"n":1,"of":1,"#))
            }
        }
    }

    @Test
    func `A collection group streams documents of all collections with its ID`() async throws {
        try await withServer { server in
            try await server.set("books/b/reviews/1", ["stars": .integer(5)])
            try await withConnection(to: server) { connection in
                let target = "/watch?collectionGroup=reviews&include=paths&heartbeat=60"
                try await connection.send(RawConnection.request("GET", target))
                _ = try await connection.responseHead()
                _ = try await connection.chunk()
                #expect(try await connection.chunk() == "{\"type\":\"added\",\"path\":\"books/b/reviews/1\"}\n")
                #expect(try await connection.chunk()?.contains(#""count":1,"#) == true)
                try await server.set("reviews/2", [:])
                #expect(try await connection.chunk()?.contains(#""path":"reviews/2","n":1,"of":1,"#) == true)
            }
        }
    }

    @Test
    func `A resume token is valid for any JSON formatting of its query`() async throws {
        try await withServer { server in
            try await server.set("a/1", ["v": .integer(1)])
            let layouts = [
                #"{"collection":"a","where":{"field":"v","op":"==","value":1}}"#,
                #"{ "where": {"value": 1, "op": "==", "field": "v"}, "collection": "a" }"#,
            ]
            let token = try await withConnection(to: server) { connection in
                let query = PercentEncoding.encode(UTF8Key(layouts[0]))
                let stream = try await connection.stream("/watch?from=now&query=\(query)", until: #""token":"#)
                let end = try #require(stream.split(separator: "\n").last)
                return try #require(try JSONText(String(end)).root["token"]?.string)
            }
            for (layout, status) in [(layouts[1], 200), (#"{"collection":"a"}"#, 400)] {
                let response = try await withConnection(to: server) { connection in
                    let query = PercentEncoding.encode(UTF8Key(layout))
                    return try await connection.send("GET", "/watch?timeout=1&resume=\(token)&query=\(query)")
                }
                #expect(response.status == status)
            }
        }
    }
}
