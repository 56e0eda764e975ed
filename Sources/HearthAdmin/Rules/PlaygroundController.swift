import DocumentModel
import HearthAPI
import SecurityRules
import UTF8Text

/// The controller for the playground of security rules. It reads documents as the caller, and writes nothing.
struct PlaygroundController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    /// Handles the form of a hypothetical request.
    func respond() async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorizeRules()
            guard let form = submission?.form else {
                let input = PlaygroundInput(RulesInput(try await RulesState(of: context)))
                return .page(PlaygroundPage(input, active: context.rules.active))
            }
            let input = PlaygroundInput(form)
            if submission?.isStale == true {
                return .page(PlaygroundPage(input, active: context.rules.active, problems: .stale))
            }
            switch form["do"] {
            case "open": return .page(PlaygroundPage(input, active: context.rules.active))
            case "run": return .page(try await run(input))
            default: return .page(ErrorPage.invalidForm)
            }
        }
    }

    private func run(_ input: PlaygroundInput) async throws(StatusError) -> PlaygroundPage {
        let active = context.rules.active
        let check = RulesCheck(input.rules)
        var problems = RulesInput(text: input.rules, base: nil, check: check).problems
        let hypothetical = input.request(addingTo: &problems)
        guard let ruleset = check.ruleset, let hypothetical else {
            return PlaygroundPage(input, active: active, check: check, problems: problems)
        }
        do throws(StatusError) {
            let run = try await PlaygroundRun(hypothetical, by: ruleset, at: request.now, in: context)
            return PlaygroundPage(input, active: active, run: run)
        } catch {
            switch error.code {
            case .alreadyExists:
                problems.add(localized("A document exists at the path. Choose the method update."), at: "method")
            case .notFound:
                problems.add(localized("No document exists at the path. Choose the method create."), at: "method")
            default: throw error
            }
            return PlaygroundPage(input, active: active, problems: problems)
        }
    }
}
