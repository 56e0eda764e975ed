/// The rules of common patterns, by their numbers.
enum CaseRules {
    static let bodies: [Int: String] = [
        1: """
        match /notes/{id} { allow read, update, delete: if request.auth.uid == resource.data.owner;
          allow create: if request.auth.uid == request.resource.data.owner; }
        """,
        2: "match /users/{uid} { allow read; allow write: if request.auth.uid == uid; }",
        3: "match /posts/{id} { allow write: if get(D/users/$(request.auth.uid)).data.role == 'editor'; }",
        4: "match /files/{id} { allow read: if resource.data.roles[request.auth.uid] in ['owner', 'reader']; }",
        5: "match /admin/{id} { allow write: if request.auth.token.admin == true; }",
        6: """
        match /staff/{id} {
          allow read: if request.auth.token.email_verified && request.auth.token.email.matches('.*@example[.]org'); }
        """,
        7: """
        match /items/{id} { allow create: if request.resource.data.keys().hasAll(['title', 'n'])
          && request.resource.data.keys().hasOnly(['title', 'n', 'tag']) && request.resource.data.title is string
          && request.resource.data.title.size() <= 5 && request.resource.data.n is int && request.resource.data.n > 0; }
        """,
        8: "match /docs/{id} { allow update: if request.resource.data.owner == resource.data.owner; }",
        9: """
        match /pics/{id} { allow update: if request.resource.data.diff(resource.data).affectedKeys().hasOnly(['likes'])
          && request.resource.data.likes == resource.data.likes + 1; }
        """,
        10: "match /log/{id} { allow create: if request.resource.data.at == request.time; }",
        11: """
        match /pings/{id} { allow update: if request.time > resource.data.last + duration.value(1, 'm')
          && request.resource.data.last == request.time; }
        """,
        12: "match /tenants/{t}/{d=**} { allow read, write: if request.auth.token.tenant == t; }",
        13: """
        match /rooms/{r} { allow read: if request.auth.uid in resource.data.members;
          match /msgs/{m} { allow read: if request.auth.uid in get(D/rooms/$(r)).data.members; } }
        """,
        14: "match /{p=**}/reviews/{id} { allow list: if resource.data.public == true; }",
        15: "match /feed/{id} { allow list: if request.query.limit <= 10; }",
        16: """
        match /orders/{o} { allow create: if getAfter(D/stock/$(request.resource.data.item)).data.left
          == get(D/stock/$(request.resource.data.item)).data.left - 1; }
        match /stock/{s} { allow update: if request.resource.data.left >= 0; }
        """,
        17: """
        match /bills/{id} { allow update: if request.resource.data.status
          in {'draft': ['sent'], 'sent': ['paid']}.get(resource.data.status, []); }
        """,
        18: """
        match /polls/{p}/votes/{v} { allow create: if request.auth.uid == v
          && request.time < get(D/polls/$(p)).data.closes; }
        """,
        19: """
        match /users/{uid} { allow read; allow write: if request.auth.uid == uid; }
        match /{d=**} { allow read, write: if false; }
        """,
        20: "match /pages/{id} { allow read: if resource.data.public == true || request.auth.uid == resource.data.owner; }",
        21: "match /people/{id} { allow create: if request.resource.data.get('age', 0) is int; }",
        22: """
        match /members/{id} { allow create: if request.auth.uid == id && !('role' in request.resource.data);
          allow update: if request.auth.uid == id
            && !request.resource.data.diff(resource.data).affectedKeys().hasAny(['role']); }
        """,
        23: "match /mails/{id} { allow read: if resource.data.get('deleted', false) == false; }",
        24: "match /drafts/{id} { allow get: if resource == null || resource.data.owner == request.auth.uid; }",
        25: """
        match /invites/{id} { allow read: if request.auth.token.email == resource.data.to
          && request.time < resource.data.until; }
        """,
    ]
}

/// A numbered case: a request that rules allow or deny.
struct RuleCase: Sendable {
    var number: Int
    /// The number of the rules.
    var rules: Int
    var request: TestRequest
    var user: TestUser?
    var documents: [String: String] = [:]
    var version = "2"

    init(
        _ number: Int,
        _ rules: Int,
        _ request: TestRequest,
        by user: TestUser? = nil,
        with documents: [String: String] = [:],
        version: String = "2"
    ) {
        self.number = number
        self.rules = rules
        self.request = request
        self.user = user
        self.documents = documents
        self.version = version
    }

    func isAllowed() throws -> Bool {
        let rules = RulesFixtures.rules(CaseRules.bodies[rules] ?? "", version: version)
        return try TestDatabase(rules, documents).allows(request, by: user)
    }
}
