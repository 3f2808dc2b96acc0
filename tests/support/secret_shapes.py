"""What providers' secrets look like and where they turn up: the shapes of the corpus.

Sources, named at each shape:
gitleaks       the rules of gitleaks 8.30 (config/gitleaks.toml)
betterleaks    the rules of betterleaks 2.0
kingfisher     the rules and examples of kingfisher (data/rules/*.yml)
veles          the detectors of OSV-SCALIBR, as kingfisher 2.14 carries them
detect-secrets the plugins of detect-secrets 1.5.0
docs           the provider's own documentation
"""

from __future__ import annotations

from tests.support.secret_corpus import Context, Document, Shape

Contexts = tuple[Context, ...]


def text(*lines: str) -> Contexts:
    return tuple(Context("typical line", line) for line in lines)


def leaf(*documents: Document) -> Contexts:
    return tuple(Context("documented leaf", document) for document in documents)


def header(name: str, url: str, scheme: str = "") -> Contexts:
    """A header in a command, in a log of the client, and in a request as a document."""
    value = f"{scheme}{{}}" if scheme.endswith("=") else f"{scheme} {{}}".strip()
    url = _whole(url)
    return (
        Context("header of curl", f'curl -s -H "{name}: {value}" {url}'),
        Context("header in a log", f"> GET / HTTP/1.1\n> {name}: {value}\n> Accept: */*"),
        Context("header leaf", {"url": url, "headers": {name: value, "Accept": "*/*"}}),
    )


def bearer(url: str) -> Contexts:
    return header("Authorization", url, "Bearer")


def query(url: str) -> Contexts:
    url = _whole(url)
    return (
        Context("query of a URL", f"curl -s '{url}'"),
        Context("query of a URL", f"GET {url} 200 in 31 ms"),
    )


def _whole(url: str) -> str:
    return url if "://" in url else f"https://api.example.com/{url}"


def known(
    provider: str, pattern: str, names: str = "", *met: Contexts, source: str = "gitleaks"
) -> Shape:
    """A secret that has a prefix by which one knows it anywhere."""
    contexts = tuple(context for group in met for context in group)
    return Shape(provider, pattern, tuple(names.split()), contexts, True, source)


def opaque(
    provider: str, pattern: str, names: str = "", *met: Contexts, source: str = "gitleaks"
) -> Shape:
    """A secret that one knows only by what stands beside it."""
    contexts = tuple(context for group in met for context in group)
    return Shape(provider, pattern, tuple(names.split()), contexts, False, source)


_FAMILIAR = [
    known("AWS", "<=AKIA|ASIA><B16>", "AWS_ACCESS_KEY_ID"),
    opaque(
        "AWS",
        "<b40>",
        "AWS_SECRET_ACCESS_KEY",
        text("[default]\nregion = eu-west-1\naws_secret_access_key = {}"),
        leaf({"Credentials": {"SecretAccessKey": "{}"}}),
        source="betterleaks",
    ),
    known("AWS", "ABSK<b120>", "AWS_BEARER_TOKEN_BEDROCK"),
    known("GitHub", "<=ghp|gho|ghs>_<A36>", "GITHUB_TOKEN GH_TOKEN"),
    known("GitHub", "github_pat_<A22>_<A59>", "GITHUB_TOKEN"),
    known("GitLab", "<=glpat|gldt|glrt>-<w20>", "GITLAB_TOKEN", header("PRIVATE-TOKEN", "g/api")),
    known("Slack", "xox<=b|p>-<d12>-<d12>-<A24>", "SLACK_BOT_TOKEN"),
    known("Slack", "xapp-1-<U11>-<d13>-<h64>", "SLACK_APP_TOKEN"),
    opaque(
        "Slack",
        "<A24>",
        "",
        text("curl -d '{\"text\":1}' https://hooks.slack.com/services/T0<U9>/B0<U9>/{}"),
        leaf({"slack_webhook": "https://hooks.slack.com/services/T0<U9>/B0<U9>/{}"}),
    ),
    known("Stripe", "<=sk|rk>_<=live|test>_<A99>", "STRIPE_SECRET_KEY STRIPE_API_KEY"),
    known("Stripe", "whsec_<A32>", "STRIPE_WEBHOOK_SECRET", source="docs"),
    known("OpenAI", "sk-proj-<w74>T3BlbkFJ<w74>", "OPENAI_API_KEY"),
    known("OpenAI", "sk-<A20>T3BlbkFJ<A20>", "OPENAI_API_KEY"),
    known("Anthropic", "sk-ant-api03-<w93>AA", "ANTHROPIC_API_KEY", header("x-api-key", "a/v1")),
    known("Google", "AIza<w35>", "GOOGLE_API_KEY GEMINI_API_KEY", query("https://m/api?key={}")),
    known("Google", "GOCSPX-<w28>", "GOOGLE_CLIENT_SECRET", source="docs"),
    known("Google", "ya29.<w120>", "GOOGLE_ACCESS_TOKEN", source="docs"),
    opaque(
        "Google",
        "-----<=BEGIN> PRIVATE KEY-----\\n<pemline>\\n-----<=END> PRIVATE KEY-----\\n",
        "",
        text('{"type": "service_account", "private_key": "{}", "client_id": "<d21>"}'),
        source="betterleaks",
    ),
    known("npm", "npm_<A36>", "NPM_TOKEN", text("//npm.example.com/:_authToken={}")),
    known("PyPI", "pypi-AgEIcHlwaS5vcmc<w150>", "TWINE_PASSWORD", text("password = {}")),
    known("Hugging Face", "hf_<L34>", "HF_TOKEN HUGGING_FACE_HUB_TOKEN"),
    known("SendGrid", "SG.<w22>.<w43>", "SENDGRID_API_KEY", source="veles"),
    opaque(
        "Twilio",
        "<h32>",
        "TWILIO_AUTH_TOKEN",
        text("curl <=-u> AC<h32>:{} https://api.twilio.com/2010-04-01/Accounts"),
        source="detect-secrets",
    ),
    *(
        opaque(
            "Private key",
            f"-----<=BEGIN>{kind} PRIVATE KEY-----\n<pem>\n-----<=END>{kind} PRIVATE KEY-----",
            "",
            text("$ cat deploy_key\n{}\n$ ls", "{}"),
            leaf({"files": [{"path": "deploy_key", "content": "{}"}]}, {"private_key": "{}"}),
        )
        for kind in (" RSA", " EC", " OPENSSH", "")
    ),
    known("JWT", "<jwt>", "ACCESS_TOKEN", bearer("https://api.example.com/me")),
    opaque(
        "PostgreSQL",
        "<A16>",
        "POSTGRES_PASSWORD PGPASSWORD",
        text("psql postgresql://app:{}@db.internal:5432/app -c 'select 1'"),
        leaf({"DATABASE_URL": "postgres://app:{}@db.internal/app?sslmode=require"}),
        source="docs",
    ),
]

_KNOWN = [
    known("DigitalOcean", "do<=p|o|r>_v1_<h64>", "DIGITALOCEAN_ACCESS_TOKEN"),
    known("Shopify", "shp<=at|ca|pa|ss>_<h32>", "SHOPIFY_ACCESS_TOKEN"),
    known("Doppler", "dp.pt.<A43>", "DOPPLER_TOKEN"),
    known(
        "Dynatrace", "dt0c01.<U24>.<U64>", "DT_API_TOKEN", header("Authorization", "d", "Api-Token")
    ),
    known("Databricks", "dapi<h32>", "DATABRICKS_TOKEN"),
    known("Linear", "lin_api_<A40>", "LINEAR_API_KEY"),
    known("Notion", "ntn_<d11><A35>", "NOTION_TOKEN NOTION_API_KEY"),
    known("Airtable", "pat<A14>.<h64>", "AIRTABLE_API_KEY"),
    known(
        "Figma", "figd_<w40>", "FIGMA_TOKEN", header("X-Figma-Token", "f/v1"), source="betterleaks"
    ),
    known("Postman", "PMAK-<h24>-<h34>", "POSTMAN_API_KEY", header("X-Api-Key", "p/me")),
    known("Pulumi", "pul-<h40>", "PULUMI_ACCESS_TOKEN"),
    known(
        "HashiCorp Vault", "hvs.<w95>", "VAULT_TOKEN", header("X-Vault-Token", "http://v:8200/v1")
    ),
    known("Terraform Cloud", "<A14>.atlasv1.<w67>", "TFE_TOKEN TF_TOKEN_app_terraform_io"),
    known("PlanetScale", "pscale_<=tkn|pw|oauth>_<w43>", "PLANETSCALE_SERVICE_TOKEN"),
    known("Sentry", "sntryu_<h64>", "SENTRY_AUTH_TOKEN"),
    known("New Relic", "NRAK-<U27>", "NEW_RELIC_API_KEY", header("Api-Key", "n/graphql")),
    opaque(
        "New Relic", "<h36>NRAL", "NEW_RELIC_LICENSE_KEY", text("license_key: {}"), source="docs"
    ),
    known("Grafana", "glsa_<A32>_<h8>", "GRAFANA_TOKEN GRAFANA_SERVICE_ACCOUNT_TOKEN"),
    known("Grafana", "glc_<b100>", "GRAFANA_CLOUD_API_KEY"),
    known("Sourcegraph", "sgp_<h16>_<h40>", "SRC_ACCESS_TOKEN"),
    known("Square", "sq0atp-<w22>", "SQUARE_ACCESS_TOKEN"),
    known("Shippo", "shippo_<=live|test>_<h40>", "SHIPPO_API_TOKEN"),
    known("EasyPost", "EZAK<A54>", "EASYPOST_API_KEY"),
    known("Duffel", "duffel_<=test|live>_<w43>", "DUFFEL_ACCESS_TOKEN"),
    known("Flutterwave", "FLWSECK_TEST-<h32>-X", "FLW_SECRET_KEY"),
    known("Fly.io", "fo1_<w43>", "FLY_API_TOKEN"),
    known("Frame.io", "fio-u-<w64>", "FRAMEIO_TOKEN"),
    known("Heroku", "HRKU-AA<w58>", "HEROKU_API_KEY"),
    known("Infracost", "ico-<A32>", "INFRACOST_API_KEY"),
    known("ReadMe", "rdme_<a70>", "README_API_KEY"),
    known("RubyGems", "rubygems_<h48>", "GEM_HOST_API_KEY", text("---\n:rubygems_api_key: {}")),
    known("Scalingo", "tk-us-<w48>", "SCALINGO_API_TOKEN"),
    known("Brevo", "xkeysib-<h64>-<A16>", "BREVO_API_KEY", header("api-key", "b/v3")),
    known("Typeform", "tfp_<w59>", "TYPEFORM_TOKEN"),
    known("Yandex", "AQVN<w36>", "YANDEX_API_KEY", header("Authorization", "y/llm", "Api-Key")),
    known("Alibaba", "LTAI<A20>", "ALIBABA_CLOUD_ACCESS_KEY_ID"),
    opaque("Alibaba", "<A30>", "ALIBABA_CLOUD_ACCESS_KEY_SECRET"),
    known("age", "AGE-SECRET-KEY-1<q58>", "SOPS_AGE_KEY"),
    known("1Password", "ops_eyJ<b300>", "OP_SERVICE_ACCOUNT_TOKEN"),
    known("Adobe", "p8e-<a32>", "ADOBE_CLIENT_SECRET"),
    known("Artifactory", "AKCp<A69>", "ARTIFACTORY_API_KEY", header("X-JFrog-Art-Api", "a/api")),
    known("Atlassian", "ATATT3<w180>=<H8>", "JIRA_API_TOKEN CONFLUENCE_API_TOKEN", source="docs"),
    known("Azure AD", "<A3>8Q~<A34>", "AZURE_CLIENT_SECRET ARM_CLIENT_SECRET"),
    known("Bitbucket", "BBDC-<b40>", "BITBUCKET_TOKEN", source="betterleaks"),
    known("Buildkite", "bkua_<h40>", "BUILDKITE_API_TOKEN", source="betterleaks"),
    known("Cerebras", "csk-<a48>", "CEREBRAS_API_KEY", source="betterleaks"),
    known("CircleCI", "CCI<=PAT|PRJ>_<A22>_<h40>", "CIRCLECI_TOKEN", source="kingfisher"),
    opaque(
        "CircleCI",
        "<h40>",
        "CIRCLECI_TOKEN CIRCLECI_API_TOKEN",
        header("Circle-Token", "https://circleci.com/api/v2/me"),
        source="kingfisher",
    ),
    known("ClickHouse", "4b1d<A38>", "CLICKHOUSE_CLOUD_API_SECRET"),
    known("Clojars", "CLOJARS_<h60>", "CLOJARS_PASSWORD"),
    known("Cloudsmith", "csa_<h30><A6>", "CLOUDSMITH_API_KEY", source="betterleaks"),
    known("CockroachDB", "CCDB1_<A22>_<A40>", "COCKROACH_API_KEY", source="betterleaks"),
    known("DataStax", "AstraCS:<A24>:<h64>", "ASTRA_DB_APPLICATION_TOKEN", source="betterleaks"),
    known("Deno", "dd<=p|o>_<A36>", "DENO_DEPLOY_TOKEN", source="veles"),
    known("Docker", "dckr_<=pat|oat>_<w27>", "DOCKERHUB_TOKEN", source="betterleaks"),
    known(
        "Docker Swarm",
        "SWMTKN-1-<a50>-<a25>",
        "",
        text("docker swarm join --token {} 10.0.0.4:2377"),
        source="betterleaks",
    ),
    known("Elastic Cloud", "essu_<w80>", "EC_API_KEY", source="betterleaks"),
    known(
        "Facebook", "EAA<=M|C><A150>", "FACEBOOK_PAGE_ACCESS_TOKEN", query("f/me?access_token={}")
    ),
    known("Groq", "gsk_<A52>", "GROQ_API_KEY", source="betterleaks"),
    known("Harness", "pat.<w22>.<h24>.<A20>", "HARNESS_API_KEY", source="betterleaks"),
    known("LangSmith", "lsv2_<=pt|sk>_<h32>_<h10>", "LANGSMITH_API_KEY", source="betterleaks"),
    known("Langfuse", "sk-lf-<uuid>", "LANGFUSE_SECRET_KEY", source="betterleaks"),
    known("LlamaCloud", "llx-<A48>", "LLAMA_CLOUD_API_KEY", source="betterleaks"),
    known("MailerSend", "mlsn.<h64>", "MAILERSEND_API_TOKEN", source="betterleaks"),
    known("Mailchimp", "<h32>-us<d2>", "MAILCHIMP_API_KEY"),
    known("MaxMind", "<A6>_<A29>_mmk", "MAXMIND_LICENSE_KEY", query("m/dl?license_key={}")),
    known("Neon", "napi_<a64>", "NEON_API_KEY", source="betterleaks"),
    known("NVIDIA", "nvapi-<w64>", "NVIDIA_API_KEY NGC_API_KEY", source="betterleaks"),
    known("Octopus Deploy", "API-<U26>", "OCTOPUS_API_KEY", header("X-Octopus-ApiKey", "o/api")),
    known("OpenRouter", "sk-or-v1-<h64>", "OPENROUTER_API_KEY", source="betterleaks"),
    known("OpenShift", "sha256~<w43>", "", text("oc login --token={} --server=https://api:6443")),
    known("Perplexity", "pplx-<A48>", "PERPLEXITY_API_KEY"),
    known("Pinecone", "pcsk_<A6>_<A63>", "PINECONE_API_KEY", source="betterleaks"),
    known("PostHog", "phx_<A43>", "POSTHOG_PERSONAL_API_KEY", source="betterleaks"),
    known("Prefect", "pnu_<A36>", "PREFECT_API_KEY"),
    known("Render", "rnd_<A28>", "RENDER_API_KEY", source="betterleaks"),
    known("Replicate", "r8_<A37>", "REPLICATE_API_TOKEN", source="betterleaks"),
    known("Resend", "re_<z8>_<z24>", "RESEND_API_KEY", source="betterleaks"),
    known("Supabase", "sbp_<h40>", "SUPABASE_ACCESS_TOKEN", source="betterleaks"),
    known("Supabase", "sb_secret_<w31>", "SUPABASE_SECRET_KEY", source="betterleaks"),
    known(
        "Tailscale",
        "tskey-<=api|auth>-k<A12>CNTRL-<A20>",
        "TS_AUTHKEY TAILSCALE_API_KEY",
        text("tailscale up --authkey={}"),
        source="docs",
    ),
    known(
        "Telegram",
        "<~d10>:AA<w33>",
        "TELEGRAM_BOT_TOKEN",
        text("curl -s https://api.telegram.org/bot{}/getMe"),
    ),
    known("Together AI", "tgp_v1_<w43>", "TOGETHER_API_KEY", source="betterleaks"),
    known("Vercel", "vc<=p|k|i>_<A56>", "VERCEL_TOKEN", source="betterleaks"),
    opaque(
        "Vercel",
        "<A24>",
        "VERCEL_TOKEN",
        text("vercel deploy --prod --token {}", "vercel --token={} env pull"),
        source="betterleaks",
    ),
    known("xAI", "xai-<A80>", "XAI_API_KEY", source="veles"),
    known("WakaTime", "waka_<uuid>", "WAKATIME_API_KEY", text("[settings]\napi_key = {}")),
    known(
        "Discord",
        "M<A23>.<w6>.<w27>",
        "DISCORD_TOKEN",
        text('client.login("{}")'),
        source="detect-secrets",
    ),
    opaque(
        "Discord",
        "<w68>",
        "",
        text("curl -d 'content=hi' https://discord.com/api/webhooks/<d18>/{}"),
        leaf({"webhook_url": "https://discord.com/api/webhooks/<d18>/{}"}),
        source="docs",
    ),
    known("Salesforce", "00D<A12>!<A96>", "SF_ACCESS_TOKEN", source="betterleaks"),
    known("Packagist", "packagist_<=out|ort>_<h68>", "PACKAGIST_TOKEN", source="veles"),
    known("Plaid", "access-<=sandbox|production>-<uuid>", "PLAID_ACCESS_TOKEN"),
    opaque(
        "Plaid",
        "<h30>",
        "PLAID_SECRET",
        leaf({"client_id": "<h24>", "secret": "{}", "country_codes": ["US"]}),
    ),
    known("Mapbox", "sk.eyJ1Ijoi<A60>.<w22>", "MAPBOX_ACCESS_TOKEN", source="docs"),
    known("Ionic", "ion_<A42>", "IONIC_TOKEN", source="betterleaks"),
    known("Nylas", "nyk_<A67>", "NYLAS_API_KEY", source="betterleaks"),
    known("OneSignal", "os_v2_app_<t103>", "ONESIGNAL_API_KEY", source="betterleaks"),
    known("Paddle", "pdl_live_apikey_<a26>_<A22>_<A3>", "PADDLE_API_KEY", source="betterleaks"),
    known("Polar", "polar_oat_<A43>", "POLAR_ACCESS_TOKEN", source="betterleaks"),
    known("Rootly", "rootly_<h64>", "ROOTLY_API_KEY", source="betterleaks"),
    known("Aikido", "AIK_SECRET_<A64>", "AIKIDO_CLIENT_SECRET", source="betterleaks"),
    known(
        "Apify", "apify_api_<A36>", "APIFY_TOKEN", query("a/v2/acts?token={}"), source="betterleaks"
    ),
    known("Ramp", "ramp_sec_<A48>", "RAMP_CLIENT_SECRET", source="betterleaks"),
    known("RunPod", "rpa_<U40><A6>", "RUNPOD_API_KEY", source="betterleaks"),
    known("MongoDB Atlas", "mdb_sa_sk_<w40>", "MONGODB_ATLAS_CLIENT_SECRET", source="betterleaks"),
    opaque(
        "ngrok", "2<A26>_<d1><A20>", "NGROK_AUTHTOKEN", text("authtoken: {}"), source="betterleaks"
    ),
    opaque("Telnyx", "KEY<H32>_<A22>", "TELNYX_API_KEY", source="docs"),
    known("Stytch", "secret-<=test|live>-<w36>=", "STYTCH_SECRET", source="docs"),
]

_OPAQUE = [
    opaque(
        "Datadog",
        "<h32>",
        "DD_API_KEY DATADOG_API_KEY",
        header("DD-API-KEY", "https://api.datadoghq.com/api/v1/validate"),
        source="kingfisher",
    ),
    opaque("Datadog", "<h40>", "DD_APP_KEY DD_APPLICATION_KEY", source="kingfisher"),
    opaque("Cloudflare", "<w40>", "CLOUDFLARE_API_TOKEN CF_API_TOKEN", bearer("c/zones")),
    opaque("Cloudflare", "<h37>", "CLOUDFLARE_API_KEY", header("X-Auth-Key", "c/zones")),
    opaque("Okta", "00<w40>", "OKTA_API_TOKEN", header("Authorization", "o/users", "SSWS")),
    opaque("Fastly", "<w32>", "FASTLY_API_TOKEN FASTLY_API_KEY", header("Fastly-Key", "f/service")),
    opaque("Algolia", "<h32>", "ALGOLIA_ADMIN_KEY", header("X-Algolia-API-Key", "a/1/indexes")),
    opaque("Adafruit", "<w32>", "ADAFRUIT_IO_KEY", header("X-AIO-Key", "a/v2/feeds")),
    opaque("Beamer", "b_<w44>", "BEAMER_API_KEY", header("Beamer-Api-Key", "b/v0/posts")),
    opaque("Bittrex", "<h32>", "BITTREX_SECRET_KEY BITTREX_API_SECRET"),
    opaque(
        "Cisco Meraki", "<h40>", "MERAKI_DASHBOARD_API_KEY", header("X-Cisco-Meraki-API-Key", "m")
    ),
    opaque(
        "Codecov",
        "<uuid>",
        "CODECOV_TOKEN",
        text("codecov upload-process --token {}", "codecov:\n  token: {}"),
    ),
    opaque("Cohere", "<A40>", "CO_API_KEY COHERE_API_KEY", text('cohere.Client(api_key="{}")')),
    opaque("Coinbase", "<A64>", "COINBASE_API_SECRET"),
    opaque("Confluent", "<b64>", "CONFLUENT_CLOUD_API_SECRET", text("sasl.password={}")),
    opaque("Contentful", "<w43>", "CONTENTFUL_ACCESS_TOKEN", query("c/entries?access_token={}")),
    opaque("Drone CI", "<A32>", "DRONE_TOKEN DRONE_RPC_SECRET"),
    opaque("Dropbox", "sl.<w135>", "DROPBOX_ACCESS_TOKEN"),
    opaque("Dropbox", "<a15>", "DROPBOX_APP_SECRET"),
    opaque("Etsy", "<a24>", "ETSY_API_KEY", header("x-api-key", "e/v3/application")),
    opaque("Facebook", "<h32>", "FACEBOOK_APP_SECRET", query("f/oauth?client_secret={}&code=1")),
    opaque("Finnhub", "<a20>", "FINNHUB_API_KEY", query("f/quote?symbol=X&token={}")),
    opaque("Flickr", "<h32>", "FLICKR_API_KEY", query("f/rest/?format=json&api_key={}")),
    opaque("FreshBooks", "<h64>", "FRESHBOOKS_CLIENT_SECRET"),
    opaque("Gitter", "<h40>", "GITTER_TOKEN GITTER_ACCESS_TOKEN"),
    opaque("HubSpot", "<uuid>", "HUBSPOT_API_KEY", query("h/contacts?hapikey={}&limit=1")),
    opaque("Intercom", "<w60>", "INTERCOM_ACCESS_TOKEN", bearer("i/me")),
    opaque(
        "JFrog",
        "<A64>",
        "JFROG_ACCESS_TOKEN",
        text("jf c add --url=https://acme.jfrog.io --access-token={}"),
    ),
    opaque("Kraken", "<b86>==", "KRAKEN_PRIVATE_KEY KRAKEN_API_SECRET"),
    opaque("KuCoin", "<uuid>", "KUCOIN_API_SECRET", leaf({"kucoin": {"secret": "{}"}})),
    opaque(
        "LaunchDarkly",
        "<=sdk|api>-<uuid>",
        "LAUNCHDARKLY_SDK_KEY LAUNCHDARKLY_ACCESS_TOKEN",
        source="docs",
    ),
    opaque("LinkedIn", "<A16>", "LINKEDIN_CLIENT_SECRET", query("l/t?client_secret={}&code=1")),
    opaque("Lob", "<=live|test>_<h35>", "LOB_API_KEY", text("curl https://api.lob.com/v1 -u {}:")),
    opaque("Looker", "<A24>", "LOOKERSDK_CLIENT_SECRET", text("[Looker]\nclient_secret={}")),
    opaque("Mailgun", "key-<h32>", "MAILGUN_API_KEY", text("curl <=--user> 'api:{}' https://m/v3")),
    opaque("Mailgun", "<h32>-<h8>-<h8>", "MAILGUN_API_KEY MAILGUN_SIGNING_KEY"),
    opaque("Mattermost", "<a26>", "MATTERMOST_TOKEN", bearer("https://chat.example.com/api/v4")),
    opaque(
        "MessageBird", "<A25>", "MESSAGEBIRD_ACCESS_KEY", header("Authorization", "m", "AccessKey")
    ),
    opaque("Netlify", "<w43>", "NETLIFY_AUTH_TOKEN", text("netlify deploy --auth {} --prod")),
    opaque("NY Times", "<A32>", "NYTIMES_API_KEY", query("n/articles.json?q=x&api-key={}")),
    opaque("RapidAPI", "<a50>", "RAPIDAPI_KEY", header("X-RapidAPI-Key", "https://r/v1")),
    opaque("Sendbird", "<h40>", "SENDBIRD_API_TOKEN", header("Api-Token", "s/v3/users")),
    opaque("Snyk", "<uuid>", "SNYK_TOKEN", text("snyk auth --token={}"), source="gitleaks"),
    opaque(
        "SonarQube",
        "<=squ_|sqp_|><h40>",
        "SONAR_TOKEN",
        text(
            "mvn sonar:sonar -Dsonar.token={}", "sonar-scanner -Dsonar.login={}", "sonar.token={}"
        ),
    ),
    opaque("Squarespace", "<uuid>", "SQUARESPACE_API_KEY"),
    opaque("Sumo Logic", "<A64>", "SUMO_ACCESS_KEY SUMOLOGIC_ACCESSKEY"),
    opaque("Travis CI", "<A22>", "TRAVIS_API_TOKEN", header("Authorization", "t/repos", "token")),
    opaque("Twitch", "<a30>", "TWITCH_CLIENT_SECRET", query("t/token?client_secret={}&x=1")),
    opaque("Twitter", "<A50>", "TWITTER_API_SECRET TWITTER_CONSUMER_SECRET"),
    opaque("Twitter", "<A45>", "TWITTER_ACCESS_TOKEN_SECRET"),
    opaque(
        "Zendesk",
        "<A40>",
        "ZENDESK_API_TOKEN",
        text("curl <=-u> admin@example.com/token:{} https://acme.zendesk.com/api/v2/tickets"),
    ),
    opaque("AbuseIPDB", "<h80>", "ABUSEIPDB_API_KEY", source="betterleaks"),
    opaque("Amplitude", "<h32>", "AMPLITUDE_SECRET_KEY AMPLITUDE_API_KEY", source="betterleaks"),
    opaque(
        "AssemblyAI",
        "<h32>",
        "ASSEMBLYAI_API_KEY",
        text('aai.settings.api_key = "{}"'),
        header("Authorization", "https://api.assemblyai.com/v2/transcript"),
        source="betterleaks",
    ),
    opaque("Auth0", "<w64>", "AUTH0_CLIENT_SECRET", source="betterleaks"),
    opaque("Bitly", "<h40>", "BITLY_ACCESS_TOKEN", bearer("b/v4/user"), source="betterleaks"),
    opaque("Bitrise", "<w86>", "BITRISE_API_TOKEN", source="betterleaks"),
    opaque(
        "Box",
        "<A32>",
        "BOX_CLIENT_SECRET",
        leaf({"boxAppSettings": {"clientID": "<a32>", "clientSecret": "{}"}}),
        source="betterleaks",
    ),
    opaque("BrowserStack", "<A20>", "BROWSERSTACK_ACCESS_KEY", source="betterleaks"),
    opaque("Civo", "<A50>", "CIVO_API_KEY CIVO_TOKEN", source="betterleaks"),
    opaque(
        "Cloudinary",
        "<w27>",
        "CLOUDINARY_API_SECRET",
        text("export CLOUDINARY_URL=cloudinary://<d15>:{}@acme"),
        source="docs",
    ),
    opaque("Coveralls", "<A32>", "COVERALLS_REPO_TOKEN", text("repo_token: {}"), source="docs"),
    opaque(
        "Deepgram",
        "<h40>",
        "DEEPGRAM_API_KEY",
        header("Authorization", "d/v1/listen", "Token"),
        source="betterleaks",
    ),
    opaque("DeepSeek", "sk-<h32>", "DEEPSEEK_API_KEY", bearer("d/chat"), source="betterleaks"),
    opaque("Disqus", "<A64>", "DISQUS_SECRET_KEY", source="betterleaks"),
    opaque(
        "ElevenLabs",
        "sk_<h48>",
        "ELEVENLABS_API_KEY ELEVEN_API_KEY",
        header("xi-api-key", "https://api.elevenlabs.io/v1/user"),
        source="betterleaks",
    ),
    opaque("Exoscale", "<w43>", "EXOSCALE_API_SECRET", source="betterleaks"),
    opaque(
        "Gitea",
        "<h40>",
        "GITEA_TOKEN",
        header("Authorization", "https://git.example.com/api/v1/user", "token"),
        source="betterleaks",
    ),
    opaque("Gumroad", "<w43>", "GUMROAD_ACCESS_TOKEN", source="betterleaks"),
    opaque("Honeycomb", "<A22>", "HONEYCOMB_API_KEY", source="betterleaks"),
    opaque(
        "IBM Cloud",
        "<w44>",
        "IBMCLOUD_API_KEY IC_API_KEY",
        text("ibmcloud login --apikey {} -r eu-de"),
        leaf({"name": "ci", "apikey": "{}", "locked": False}),
        source="betterleaks",
    ),
    opaque(
        "InfluxDB",
        "<w86>==",
        "INFLUX_TOKEN INFLUXDB_TOKEN",
        text("influx bucket list --token {}"),
        header("Authorization", "http://localhost:8086/api/v2/query", "Token"),
        source="betterleaks",
    ),
    opaque(
        "JumpCloud", "<h40>", "JUMPCLOUD_API_KEY", header("x-api-key", "j/v2"), source="betterleaks"
    ),
    opaque("Mistral", "<A32>", "MISTRAL_API_KEY", bearer("m/v1/models"), source="betterleaks"),
    opaque("Mux", "<b75>", "MUX_TOKEN_SECRET", source="betterleaks"),
    opaque("OpenWeather", "<h32>", "OPENWEATHER_API_KEY OWM_API_KEY", source="betterleaks"),
    opaque(
        "Opsgenie",
        "<uuid>",
        "OPSGENIE_API_KEY",
        header("Authorization", "https://api.opsgenie.com/v2/alerts", "GenieKey"),
        source="betterleaks",
    ),
    opaque(
        "OVH",
        "<A32>",
        "OVH_APPLICATION_SECRET OVH_CONSUMER_KEY",
        text("[ovh-eu]\nendpoint=ovh-eu\napplication_secret={}"),
        source="betterleaks",
    ),
    opaque(
        "PagerDuty",
        "u+<w18>",
        "PAGERDUTY_TOKEN PAGERDUTY_API_KEY",
        header("Authorization", "https://api.pagerduty.com/users", "Token token="),
        source="betterleaks",
    ),
    opaque("PayPal", "E<w79>", "PAYPAL_CLIENT_SECRET", source="betterleaks"),
    opaque("Plivo", "<A40>", "PLIVO_AUTH_TOKEN", source="betterleaks"),
    opaque(
        "Postmark",
        "<uuid>",
        "POSTMARK_API_TOKEN POSTMARK_SERVER_TOKEN",
        header("X-Postmark-Server-Token", "https://api.postmarkapp.com/email"),
        source="betterleaks",
    ),
    opaque("Razorpay", "<A24>", "RAZORPAY_KEY_SECRET", source="betterleaks"),
    opaque(
        "Scaleway",
        "<uuid>",
        "SCW_SECRET_KEY",
        header("X-Auth-Token", "https://api.scaleway.com/account"),
        text("profiles:\n  ci:\n    secret_key: {}"),
        source="betterleaks",
    ),
    opaque(
        "Splunk",
        "<UUID>",
        "SPLUNK_HEC_TOKEN",
        text("splunk.token={}", 'splunk.hec.token = "{}"'),
        header("Authorization", "https://splunk:8088/services/collector", "Splunk"),
        source="kingfisher",
    ),
    opaque(
        "Upstash",
        "<A48>=",
        "UPSTASH_REDIS_REST_TOKEN KV_REST_API_TOKEN",
        bearer("https://eu1.upstash.io/get/x"),
        source="betterleaks",
    ),
    opaque(
        "VirusTotal",
        "<h64>",
        "VIRUSTOTAL_API_KEY VT_API_KEY",
        header("x-apikey", "v/v3/files"),
        source="betterleaks",
    ),
    opaque("Voyage AI", "pa-<w43>", "VOYAGE_API_KEY", source="betterleaks"),
    opaque("Vultr", "<U36>", "VULTR_API_KEY", bearer("v/account"), source="betterleaks"),
    opaque("Weights & Biases", "<h40>", "WANDB_API_KEY", source="betterleaks"),
    opaque("Wiz", "<A64>", "WIZ_CLIENT_SECRET", source="betterleaks"),
    opaque(
        "WooCommerce",
        "cs_<h40>",
        "WC_CONSUMER_SECRET",
        query("w/v3?consumer_secret={}&x=1"),
        source="betterleaks",
    ),
    opaque(
        "Trello",
        "<h64>",
        "TRELLO_TOKEN TRELLO_API_TOKEN",
        query("t/1/boards?fields=id&token={}"),
        source="docs",
    ),
    opaque(
        "Rollbar",
        "<h32>",
        "ROLLBAR_ACCESS_TOKEN ROLLBAR_SERVER_ACCESS_TOKEN",
        header("X-Rollbar-Access-Token", "https://api.rollbar.com/api/1/items"),
        source="docs",
    ),
    opaque("Segment", "<A32>", "SEGMENT_WRITE_KEY", source="docs"),
    opaque(
        "Shodan",
        "<A32>",
        "SHODAN_API_KEY",
        query("https://api.shodan.io/shodan/host/1.1.1.1?key={}"),
        source="docs",
    ),
]

_SYSTEMS = [
    opaque(
        "Django", "<s50>", "", text("SECRET_KEY = '{}'", "DJANGO_SECRET_KEY='{}'"), source="docs"
    ),
    opaque("Rails", "<h128>", "SECRET_KEY_BASE", text("secret_key_base: {}"), source="docs"),
    opaque("Rails", "<h32>", "RAILS_MASTER_KEY", source="docs"),
    opaque(
        "Laravel", "base64:<b43>=", "APP_KEY", text("APP_KEY={}\nAPP_DEBUG=false"), source="docs"
    ),
    opaque("Symfony", "<h32>", "APP_SECRET", source="docs"),
    opaque(
        "WordPress",
        "<words>",
        "WORDPRESS_DB_PASSWORD",
        text("define( 'DB_PASSWORD', '{}' );", "define('DB_PASSWORD', \"{}\");"),
        source="docs",
    ),
    opaque(
        "MySQL",
        "<words>",
        "MYSQL_ROOT_PASSWORD MYSQL_PWD",
        text("mysql -u app --password='{}' app", "[client]\nuser=app\npassword={}"),
        leaf({"mysql": {"host": "db", "user": "app", "password": "{}"}}),
        source="docs",
    ),
    opaque(
        "MongoDB",
        "<A16>",
        "MONGO_INITDB_ROOT_PASSWORD",
        text("mongosh 'mongodb+srv://app:{}@cluster0.ab1cd.mongodb.net/app'"),
        leaf({"uri": "mongodb://app:{}@mongo-0:27017,mongo-1:27017/app?replicaSet=rs0"}),
        source="betterleaks",
    ),
    opaque(
        "Redis",
        "<A24>",
        "REDIS_PASSWORD",
        text("redis://:{}@cache:6379/0", "rediss://default:{}@cache:6380", "requirepass {}"),
        source="betterleaks",
    ),
    opaque(
        "RabbitMQ",
        "<A18>",
        "RABBITMQ_DEFAULT_PASS",
        text("broker_url = 'amqp://worker:{}@mq:5672//'"),
        source="betterleaks",
    ),
    opaque(
        "SQL Server",
        "<words>",
        "MSSQL_SA_PASSWORD",
        text("Server=tcp:db,1433;Database=app;User ID=sa;Password={};Encrypt=True;"),
        leaf({"ConnectionStrings": {"Default": "Data Source=db;Uid=sa;Pwd={};"}}),
        source="docs",
    ),
    opaque(
        "Azure Storage",
        "<b86>==",
        "AZURE_STORAGE_KEY AZURE_STORAGE_ACCOUNT_KEY",
        text(
            "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={};"
            "EndpointSuffix=core.windows.net"
        ),
        source="betterleaks",
    ),
    opaque(
        "Azure Service Bus",
        "<b43>=",
        "",
        text("Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=R;SharedAccessKey={}"),
        leaf({"bus": "Endpoint=sb://a.servicebus.windows.net/;SharedAccessKey={};EntityPath=q"}),
        source="betterleaks",
    ),
    opaque(
        "Azure SAS",
        "<A43>%3D",
        "",
        query("https://a.blob.core.windows.net/c/f?sv=2022-11-02&sp=r&sig={}&se=2026-02-01"),
        source="docs",
    ),
    opaque(
        "Azure OpenAI",
        "<h32>",
        "AZURE_OPENAI_API_KEY",
        header("api-key", "https://a.azure.com"),
        source="kingfisher",
    ),
    opaque(
        "LDAP",
        "<words>",
        "LDAP_BIND_PASSWORD",
        text("ldapsearch -x -D cn=admin,dc=acme -w '{}' -b dc=acme", "bindpw {}"),
        source="docs",
    ),
    opaque(
        "SMTP",
        "<A16>",
        "SMTP_PASSWORD EMAIL_HOST_PASSWORD",
        text("smtp://mailer:{}@smtp.example.com:587"),
        leaf({"smtp": {"host": "mail", "user": "mailer", "pass": "{}"}}),
        source="docs",
    ),
    opaque(
        "FTP", "<A12>", "FTP_PASSWORD", text("lftp ftp://deploy:{}@ftp.example.com"), source="docs"
    ),
    opaque(
        "Elasticsearch",
        "<A20>",
        "ELASTIC_PASSWORD",
        text(
            "curl https://elastic:{}@es:9200/_cat/indices", "curl <=-u> elastic:{} https://es:9200"
        ),
        source="docs",
    ),
    opaque(
        "Kafka",
        "<A24>",
        "KAFKA_SASL_PASSWORD",
        text('PlainLoginModule required username="app" password="{}";'),
        source="docs",
    ),
    opaque(
        "curl",
        "<words>",
        "",
        text(
            "curl <=-u> 'deploy:{}' https://ci.example.com/job",
            "curl <=--user> deploy:{} http://h/x",
        ),
    ),
    opaque("HTTP basic", "<basic>", "", header("Authorization", "https://ci/job", "Basic")),
    opaque(
        "netrc",
        "<A20>",
        "",
        text("machine git.example.com login deploy password {}", "machine h\nlogin d\npassword {}"),
        source="docs",
    ),
    opaque(
        "Git credentials",
        "<A30>",
        "",
        text("https://deploy:{}@git.example.com/team/app.git", "git remote add o https://d:{}@h/r"),
        source="veles",
    ),
    opaque(
        "Docker config",
        "<basic>",
        "",
        leaf({"auths": {"registry.example.com": {"auth": "{}"}}}),
        text('{"auths": {"registry.example.com": {"auth": "{}"}}}'),
        source="docs",
    ),
    opaque(
        "Docker login",
        "<words>",
        "REGISTRY_PASSWORD",
        text("docker login -u deploy -p '{}' registry.example.com"),
        source="docs",
    ),
    opaque("sshpass", "<words>", "", text("sshpass -p '{}' ssh deploy@10.0.0.4"), source="docs"),
    opaque(
        "Ansible",
        "<words>",
        "",
        text("ansible_become_password: {}", "ansible_ssh_pass={}", "vault_password: '{}'"),
        source="kingfisher",
    ),
    opaque(
        "Kubernetes",
        "<b40>==",
        "",
        text("users:\n- name: admin\n  user:\n    client-key-data: {}"),
        text("kind: Secret\ndata:\n  password: {}\n", "kind: Secret\ndata:\n  api-token: {}\n"),
        source="docs",
    ),
    opaque(
        "Maven",
        "<words>",
        "",
        text("<server><id>ci</id><username>deploy</username><password>{}</password></server>"),
        source="docs",
    ),
    opaque("NuGet", "<A24>", "", text('<add key="ClearTextPassword" value="{}" />')),
    opaque(
        "OAuth",
        "<w64>",
        "OAUTH_CLIENT_SECRET",
        leaf({"access_token": "{}", "token_type": "bearer", "expires_in": 3600}),
        leaf({"refresh_token": "{}", "scope": "openid"}),
        text('{"token_type": "Bearer", "refresh_token": "{}"}'),
        query("https://app/callback#access_token={}&token_type=bearer"),
        source="docs",
    ),
    opaque("GitLab session", "<h32>", "", text("Cookie: _gitlab_session={}; lang=en")),
    opaque(
        "TOTP",
        "<B32>",
        "TOTP_SECRET",
        text("otpauth://totp/Acme:me?secret={}&issuer=Acme"),
        source="docs",
    ),
    opaque("Sidekiq", "<h8>", "", text('source "https://<h8>:{}@gems.contribsys.com/" do')),
    opaque("Session secret", "<A40>", "SESSION_SECRET JWT_SECRET COOKIE_SECRET", source="docs"),
    opaque("Application password", "<words>", "ADMIN_PASSWORD DB_PASS", source="kingfisher"),
    opaque("Encryption key", "<h64>", "ENCRYPTION_KEY", source="kingfisher"),
]

SHAPES: tuple[Shape, ...] = (*_FAMILIAR, *_KNOWN, *_OPAQUE, *_SYSTEMS)
