"""The shapes of tokens: a prefix that its provider gives them, and what follows it.

A line is a rule: its name, its prefixes as they are spelled, and the regular expression of the
rest. The rule applies where a prefix stands at the beginning of a word. Every expression has one
bounded repetition after another and nothing nested, so that none can take long.

A word in base64 or hex may hold one as well, so what such words say is found here too.
"""

# ruff: noqa: E501 - a rule is a line
from __future__ import annotations

from gitguard.model.redaction.names import looks_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

A = "[A-Za-z0-9]"
W = "[A-Za-z0-9_-]"
H = "[0-9a-f]"
N = "[a-z0-9]"
B = "[A-Za-z0-9+/=]"
UUID = f"{H}{{8}}-{H}{{4}}-{H}{{4}}-{H}{{4}}-{H}{{12}}"
E = "(?![A-Za-z0-9])"
"""The end of a token whose length is all that tells it from another word."""

TOKENS: tuple[tuple[str, str, str], ...] = (
    # Source code and packages
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9_.-]{30,512}"),
    ("github-token", "github_pat_", "[A-Za-z0-9_]{22,255}"),
    (
        "gitlab-token",
        "glpat- gloas- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- glwt- glsoat- "
        "glffct- glpat_ glcp-",
        "[A-Za-z0-9_.-]{18,300}",
    ),
    ("gitlab-token", "GR1348941", f"{W}{{20,50}}"),
    ("bitbucket-token", "ATBB ATCTT3 ATATT3 ATSTT3 ATOTT3", "[A-Za-z0-9_=.-]{24,512}"),
    ("trello-token", "ATTA", f"{A}{{64,80}}{E}"),
    ("npm-token", "npm_", f"{A}{{30,100}}"),
    ("pypi-token", "pypi-", f"{W}{{50,512}}"),
    ("rubygems-token", "rubygems_", f"{H}{{40,64}}"),
    ("crates-token", "cio", f"{A}{{32}}{E}"),
    ("nuget-token", "oy2", f"{N}{{43}}{E}"),
    ("clojars-token", "CLOJARS_", f"{N}{{50,80}}"),
    ("packagist-token", "packagist_ort_ packagist_out_ packagist_ack_ packagist_uut_", f"{A}{{30,}}"),
    ("jfrog-token", "AKCp", f"{A}{{60,80}}{E}"),
    ("jfrog-token", "cmVmdGtuO", f"{A}{{40,80}}{E}"),
    ("docker-token", "dckr_pat_ dckr_oat_", f"{W}{{20,80}}"),
    ("sonar-token", "sqp_ squ_ sqa_", f"{H}{{40}}"),
    ("sourcegraph-token", "sgp_ sgd_ slk_", "[0-9a-f_a-z]{40,100}"),
    ("socket-token", "sktsec_", f"{W}{{30,120}}"),
    ("snyk-token", "snyk_uat. snyk_sat. snyk_pat.", "[A-Za-z0-9_.-]{20,200}"),
    ("semgrep-token", "sgp_ semgrep_", f"{H}{{40,80}}"),
    ("infracost-token", "ico-", f"{A}{{32}}{E}"),
    ("weblate-token", "wlu_ wlp_", f"{A}{{36}}"),
    ("gitbook-token", "gb_api_", f"{A}{{30,60}}"),
    ("sourcehut-token", "srht_", f"{A}{{30,100}}"),
    # Clouds and hosting
    ("aws-access-key", "AKIA ASIA ABIA ACCA", f"[A-Z0-9]{{16}}{E}"),
    ("aws-session-token", "FwoGZXIvYXdz IQoJb3JpZ2lu FQoGZXIvYXdz", f"{B}{{60,2048}}"),
    ("aws-bedrock-key", "ABSKQmVkcm9ja0FQSUtleS bedrock-api-key-", f"{B}{{40,2048}}"),
    ("amazon-token", "amzn.mws. amzn1.oa2-cs.v1. amzn1.application-oa2-client.", "[0-9a-f-]{32,80}"),
    ("amazon-token", "Atza| Atzr| Atna|", "[A-Za-z0-9_+/=-]{60,2048}"),
    ("google-api-key", "AIza", f"{W}{{35,39}}{E}"),
    ("google-oauth-secret", "GOCSPX-", f"{W}{{20,40}}"),
    ("google-token", "ya29. AQ.Ab", "[A-Za-z0-9_.-]{20,2048}"),
    ("google-refresh-token", "1//0", f"{W}{{30,200}}"),
    ("firebase-token", "1/fb_ 1/AA", f"{W}{{30,100}}"),
    ("azure-key", "AccountKey=", f"{B}{{40,100}}"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", f"{H}{{40,64}}"),
    ("digitalocean-spaces-key", "DO00", f"[A-Z0-9]{{16}}{E}"),
    ("heroku-token", "HRKU-", f"{W}{{30,100}}"),
    ("cloudflare-token", "v1.0-", f"{H}{{24}}-{H}{{100,160}}"),
    ("cloudflare-token", "cfut_ cfat_ cfk_ cfp_", f"{W}{{30,100}}"),
    ("fly-token", "fm1r_ fm1a_ fm2_ fo1_ fm1_", "[A-Za-z0-9_+/=,-]{30,2048}"),
    ("vercel-token", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", f"{W}{{20,120}}"),
    ("netlify-token", "nfp_ nfc_ nfo_ nfb_ nfu_", f"{A}{{30,60}}"),
    ("render-token", "rnd_", f"{A}{{24,48}}{E}"),
    ("supabase-token", "sbp_ sb_secret_ sbp_oauth_ sbp_v0_", f"{W}{{20,100}}"),
    ("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", "[A-Za-z0-9_=.-]{30,80}"),
    ("neon-token", "napi_", f"(?=[A-Za-z]{{0,40}}[0-9]){A}{{30,100}}{E}"),
    ("neon-token", "npg_", f"{A}{{12,100}}{E}"),
    ("mongodb-token", "mdb_sa_sk_", f"{W}{{30,80}}"),
    ("cockroach-token", "CCDB1_", f"{W}{{30,100}}"),
    ("xata-token", "xau_", f"{A}{{30,60}}"),
    ("fauna-token", "fnAA fnAB fnAC fnAD fnAE fnAF fnAG", f"{W}{{30,60}}{E}"),
    ("databricks-token", "dapi dose dkea", f"{H}{{32}}(?:-[0-9])?{E}"),
    ("alibaba-key", "LTAI", f"{A}{{12,26}}{E}"),
    ("tencent-key", "AKID", f"{A}{{30,40}}{E}"),
    ("baidu-key", "bce-v3/ALTAK-", "[A-Za-z0-9/]{40,100}"),
    ("yandex-token", "AQVN t1. y0_", "[A-Za-z0-9_.-]{35,300}"),
    ("scaleway-key", "SCW", f"[A-Z0-9]{{17}}{E}"),
    ("linode-token", "lin_pat_", f"{A}{{30,80}}"),
    ("terraform-token", "tfr_ atlasv1.", f"{W}{{30,100}}"),
    ("vault-token", "hvs. hvb. hvr. hvp.", f"{W}{{20,300}}"),
    ("vault-token", "s.", f"(?=[A-Za-z]{{0,23}}[0-9]){A}{{24}}(?![A-Za-z0-9_.(-])"),
    ("pulumi-token", "pul-", f"{H}{{40}}"),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.", "[A-Za-z0-9_.-]{36,90}"),
    ("infisical-token", "st.", f"{H}{{8,40}}[.-][A-Za-z0-9_.-]{{30,120}}"),
    ("onepassword-token", "ops_", f"{W}{{100,2048}}"),
    ("onepassword-key", "A3-", "[A-Z0-9]{6}-[A-Z0-9]{5,6}-[A-Z0-9]{5}-[A-Z0-9-]{5,17}"),
    ("tailscale-key", "tskey-", f"{W}{{20,100}}"),
    ("nomad-token", "nvs.", f"{W}{{20,100}}"),
    ("zerotier-token", "zt_", f"{A}{{30,60}}"),
    ("defined-networking-token", "dnkey-", f"{W}{{30,120}}"),
    ("spacelift-token", "spl_", f"{A}{{30,100}}"),
    ("scalr-token", "at-", f"{A}{{30,80}}{E}"),
    # Building and watching
    ("circleci-token", "CCIPAT_ CCIPRJ_", "[A-Za-z0-9_]{30,100}"),
    ("buildkite-token", "bkua_ bkaj_ bkat_ bkct_ bkpt_", f"{A}{{30,100}}"),
    ("harness-token", "pat. sat.", r"[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    ("jetbrains-token", "perm: perm-", r"[A-Za-z0-9+/=]{4,100}\.[A-Za-z0-9+/=]{4,60}\.[A-Za-z0-9]{20,60}"),
    ("octopus-key", "API-", f"[A-Z0-9]{{24,36}}{E}"),
    ("postman-key", "PMAK- PMAT-", f"{W}{{26,80}}"),
    ("readme-key", "rdme_", f"{N}{{40,90}}"),
    ("sentry-token", "sntrys_ sntryu_ sntrya_ sntryi_", "[A-Za-z0-9_+/=]{30,512}"),
    ("grafana-token", "glsa_ glc_ gldev_", "[A-Za-z0-9_+/=]{30,512}"),
    ("grafana-token", "eyJrIjoi", f"{B}{{30,512}}"),
    ("newrelic-key", "NRAK- NRAA- NRII- NRIQ- NRRA- NRSP- NRJS- NRBR- NRIL-", f"{W}{{16,64}}"),
    ("datadog-key", "ddapp_ ddp_ dda_ ddpat_", f"{A}{{30,60}}"),
    ("honeycomb-key", "hcaik_ hcxik_ hcamk_ hcxmk_ hcalk_ hcblk_ hclik_", f"{A}{{24,100}}"),
    ("dynatrace-token", "dt0c01. dt0s01. dt0s02. dt0s08. dt0s16. dt0e01. dt0p01. dt0g02.", "[A-Z0-9]{8,24}[.][A-Z0-9]{60,70}"),
    ("axiom-token", "xaat- xapt- xait-", UUID),
    ("posthog-key", "phx_ phs_ phc_ phr_ pha_", f"{A}{{30,60}}"),
    ("launchdarkly-key", "sdk- api- mob- srv-", UUID),
    ("statsig-key", "secret- console-", f"{A}{{32,60}}{E}"),
    ("configcat-key", "configcat-sdk-1/", "[A-Za-z0-9_/-]{20,60}"),
    ("flagsmith-key", "ser.", f"{A}{{20,30}}{E}"),
    ("honeybadger-key", "hbp_", f"{A}{{30,60}}"),
    ("rootly-key", "rootly_", f"{H}{{40,80}}"),
    ("firehydrant-key", "fhb-", f"{W}{{30,60}}"),
    ("checkly-key", "cu_", f"{H}{{32}}"),
    ("prefect-key", "pnu_ pnb_", f"{A}{{30,60}}"),
    ("dbt-token", "dbtc_ dbtu_ dbts_", f"{W}{{30,80}}"),
    ("tinybird-token", "p.eyJ", r"[A-Za-z0-9_-]{20,400}\.[A-Za-z0-9_-]{20,100}"),
    ("coralogix-key", "cxtp_ cxup_ cxthp_", f"{A}{{28,60}}"),
    ("codemagic-token", "cmt_", f"{A}{{30,60}}"),
    ("chromatic-token", "chpt_", f"{A}{{10,40}}"),
    ("lambdatest-key", "LT_", f"{A}{{40,80}}"),
    ("kong-token", "kpat_ spat_ kuat_", f"{A}{{30,80}}"),
    ("zuplo-key", "zpka_ zpk_", "[A-Za-z0-9_]{30,100}"),
    ("apollo-key", "service: user:gh.", f"{W}{{2,64}}:{W}{{20,40}}"),
    # Models
    ("anthropic-key", "sk-ant-", f"{W}{{20,300}}"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None- sk-service-", f"{W}{{20,300}}"),
    ("openai-key", "sess-", f"{A}{{40}}{E}"),
    ("openrouter-key", "sk-or-", f"{W}{{30,120}}"),
    ("langfuse-key", "sk-lf- pk-lf-", UUID),
    ("ai-key", "sk-", f"(?=[A-Za-z_-]{{0,40}}[0-9]){W}{{0,24}}{A}{{16,256}}{W}{{0,128}}"),
    ("huggingface-token", "hf_ api_org_", f"{A}{{30,60}}"),
    ("groq-key", "gsk_", f"{A}{{40,80}}"),
    ("replicate-token", "r8_", f"{A}{{30,60}}"),
    ("perplexity-key", "pplx-", f"{A}{{40,80}}"),
    ("xai-key", "xai-", f"{A}{{60,120}}"),
    ("together-key", "tgp_v1_", f"{W}{{30,80}}"),
    ("fireworks-key", "fw_ fpk_", f"{A}{{22,60}}{E}"),
    ("nvidia-key", "nvapi-", f"{W}{{40,100}}"),
    ("cerebras-key", "csk-", f"{A}{{40,80}}"),
    ("langsmith-key", "lsv2_pt_ lsv2_sk_ ls__", "[0-9a-f_]{30,80}"),
    ("wandb-key", "wandb_v1_", f"{W}{{30,120}}"),
    ("voyage-key", "pa- al-", f"{W}{{42,46}}{E}"),
    ("jina-key", "jina_", f"{W}{{40,80}}"),
    ("tavily-key", "tvly-", f"{W}{{20,60}}"),
    ("firecrawl-key", "fc-", f"{H}{{32}}{E}"),
    ("browserbase-key", "bb_live_ bb_test_", f"{W}{{20,60}}"),
    ("e2b-key", "e2b_ sk_e2b_", f"{H}{{40}}"),
    ("modal-key", "ak- as-", f"{A}{{22}}{E}"),
    ("runpod-key", "rpa_", f"{A}{{30,60}}"),
    ("pinecone-key", "pcsk_ pclocal_", "[A-Za-z0-9_]{40,90}"),
    ("anyscale-key", "esecret_ aph0_", f"{A}{{20,60}}"),
    ("cursor-key", "key_ crsr_", f"{H}{{40,80}}"),
    ("lepton-key", "dsk- nvsk-", f"{A}{{30,80}}"),
    ("mem0-key", "m0-", f"{A}{{36,60}}{E}"),
    ("apify-token", "apify_api_ apify_proxy_", f"{A}{{28,50}}"),
    ("scrapfly-key", "scp-live- scp-test-", f"{H}{{32}}"),
    # Messages and mail
    ("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxe- xoxe.xoxb- xoxe.xoxp- xapp- xwfp-", "[A-Za-z0-9%-]{12,400}"),
    ("slack-token", "xoxd-", "[A-Za-z0-9%+/=_-]{20,512}"),
    ("twilio-key", "SK", f"{H}{{32}}{E}"),
    ("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{10,64}\.[A-Za-z0-9_-]{20,80}"),
    ("mailgun-key", "key-", f"{H}{{32}}{E}"),
    ("brevo-key", "xkeysib- xsmtpsib-", f"{W}{{60,120}}"),
    ("resend-key", "re_", "[A-Za-z0-9]{6,12}_[A-Za-z0-9]{18,40}"),
    ("mailersend-key", "mlsn.", f"{H}{{60,70}}"),
    ("mandrill-key", "md-", f"{W}{{22}}{E}"),
    ("klaviyo-key", "pk_", f"{H}{{34}}{E}"),
    ("clickup-token", "pk_", "[0-9]{5,12}_[A-Z0-9]{28,36}"),
    ("onesignal-key", "os_v2_app_ os_v2_org_", f"{N}{{60,120}}"),
    ("courier-key", "pk_prod_ pk_test_", f"{A}{{20,50}}{E}"),
    ("discord-token", "MT Mj Mz ND NT Nj Nz OD OT", r"[A-Za-z0-9_-]{20,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,42}"),
    ("discord-token", "mfa.", f"{W}{{60,100}}"),
    ("telnyx-key", "KEY0", "[0-9A-F]{31}_[A-Za-z0-9]{20,24}"),
    ("twitch-token", "oauth:", f"{N}{{30}}{E}"),
    ("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", "[A-Za-z0-9%]{40,200}"),
    ("facebook-token", "EAAC EAAG EAAB EAAD EAAE EAAF EAAH EAAI EAAJ EAAK EAAL EAAM EAAN EAAO EAAP EAAQ EAAR EAAS EAAT EAAU EAAV EAAW EAAX EAAY EAAZ EAAA", "[A-Za-z0-9_-]{50,400}"),
    ("instagram-token", "IGQV IGQW IGAA", f"{W}{{50,300}}"),
    ("vk-token", "vk1.a.", f"{W}{{60,300}}"),
    ("mapillary-token", "MLY|", "[0-9]{10,20}[|][0-9a-f]{32}"),
    # Money
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_org_live_ sk_org_test_ sk_prod_ sk_dev_", "[A-Za-z0-9_]{10,250}"),
    ("webhook-secret", "whsec_ whsk_", "[A-Za-z0-9+/=_-]{20,120}"),
    ("secret-key", "sk_", f"(?=[A-Za-z_]{{0,30}}[0-9])[A-Za-z]{{0,10}}_?{A}{{24,128}}{E}"),
    ("live-key", "live_ test_ test_pub_ live_pub_ sandbox_", f"(?=[A-Za-z]{{0,30}}[0-9]){A}{{28,64}}{E}"),
    ("square-token", "sq0atp- sq0csp- sq0idp-", f"{W}{{22,60}}"),
    ("flutterwave-key", "FLWSECK- FLWSECK_TEST- FLWSECK_TEST FLWPUBK_TEST-", "[A-Za-z0-9-]{12,60}"),
    ("razorpay-key", "rzp_live_ rzp_test_", f"{A}{{14,30}}"),
    ("adyen-key", "AQE", "[A-Za-z0-9+/=.*:<>(){}$#@!?^&%~|_,;-]{40,256}"),
    ("plaid-token", "access-sandbox- access-production- access-development- public-sandbox-", UUID),
    ("braintree-token", "access_token$production$ access_token$sandbox$", "[a-z0-9]{16}[$][0-9a-f]{32}"),
    ("duffel-token", "duffel_live_ duffel_test_", "[A-Za-z0-9_=-]{40,60}"),
    ("easypost-key", "EZAK EZTK", f"{A}{{50,60}}"),
    ("shippo-token", "shippo_live_ shippo_test_", f"{H}{{40}}"),
    ("paddle-key", "pdl_live_apikey_ pdl_sdbx_apikey_ pdl_ntfset_", "[A-Za-z0-9_+/=]{26,120}"),
    ("polar-token", "polar_oat_ polar_pat_", f"{A}{{30,60}}"),
    ("secret-token", "secret-token:", "[A-Za-z0-9_.~%:+/=-]{20,200}"),
    ("stytch-secret", "secret-live- secret-test-", f"{W}{{30,60}}"),
    ("onfido-token", "api_live. api_sandbox. api_live_eu. api_live_us.", "[A-Za-z0-9_.-]{30,100}"),
    ("persona-key", "persona_production_ persona_sandbox_", f"{A}{{24,60}}"),
    ("svix-key", "testsk_ livesk_", "[A-Za-z0-9_.-]{30,80}"),
    # Work
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_ atkn_", f"{A}{{32,80}}"),
    ("linear-key", "lin_api_ lin_oauth_ lin_wh_", f"{A}{{30,80}}"),
    ("notion-token", "ntn_ secret_", f"{A}{{40,60}}{E}"),
    ("figma-token", "figd_ figo_ figu_ figr_ figdr_ figoh_ figor_ figuh_ figur_", f"{W}{{30,100}}"),
    ("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("asana-token", "1/ 2/ 0/", "[0-9]{13,20}[:/][0-9a-f/:]{32,80}"),
    ("hubspot-token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", "[0-9a-fA-F-]{30,50}"),
    ("contentful-token", "CFPAT-", f"{W}{{40,60}}"),
    ("typeform-token", "tfp_", "[A-Za-z0-9_.=-]{40,80}"),
    ("dropbox-token", "sl.", "(?:u[.])?[A-Za-z0-9_-]{100,1400}"),
    ("frameio-token", "fio-u-", f"{W}{{50,100}}"),
    ("sanity-token", "sk", f"(?=[A-Za-z]{{0,30}}[0-9]){A}{{80,220}}{E}"),
    ("transifex-token", "1/", f"{H}{{40}}{E}"),
    ("adafruit-key", "aio_", f"{A}{{24,32}}{E}"),
    ("samsara-token", "samsara_api_", f"{A}{{26,40}}"),
    ("wakatime-key", "waka_ waka_tok_", "[0-9a-zA-Z-]{32,80}"),
    ("lichess-token", "lip_ lio_", f"{A}{{16,30}}{E}"),
    ("riot-key", "RGAPI-", UUID),
    ("roblox-cookie", "_|WARNING:-DO-NOT-SHARE-THIS", "[A-Za-z0-9_.:|-]{60,2048}"),
    ("thunderstore-token", "tss_", f"{A}{{30,80}}"),
    ("authress-key", "sc_ ext_ scauth_ authress_", r"[a-z0-9]{4,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[a-z0-9+/_=-]{30,120}"),
    ("settlemint-token", "sm_pat_ sm_aat_ sm_sat_", f"{A}{{14,20}}{E}"),
    ("mapbox-token", "sk.eyJ pk.eyJ tk.eyJ", r"[A-Za-z0-9_-]{20,300}\.[A-Za-z0-9_-]{16,40}"),
    ("akamai-token", "akab-", f"{W}{{16,60}}"),
    ("ebay-token", "v^1.1#", "[A-Za-z0-9+/=#^]{40,2048}"),
    ("salesforce-token", "00D", r"[A-Za-z0-9]{12,15}![A-Za-z0-9_.]{60,200}"),
    ("linkedin-secret", "WPL_AP1. WPL_AP0.", "[A-Za-z0-9+/=.]{10,80}"),
    ("vanta-token", "vat_ vatok_", f"{W}{{30,80}}"),
    ("notion-webhook", "ntnwh_", f"{A}{{30,60}}"),
    # Hashes of passwords, as files of users have them, and in Compose with each `$` doubled
    ("password-hash", "$apr1$ $1$", r"\$?[A-Za-z0-9./]{1,8}\${1,2}[A-Za-z0-9./]{22}"),
    ("password-hash", "$5$ $6$", r"\$?(?:rounds=[0-9]{1,9}\${1,2})?[A-Za-z0-9./]{1,16}\${1,2}[A-Za-z0-9./]{43,86}"),
    ("password-hash", "$2a$ $2b$ $2x$ $2y$", r"\$?[0-9]{2}\${1,2}[A-Za-z0-9./]{53}"),
    ("password-hash", "$y$ $gy$ $7$", r"[A-Za-z0-9./]{1,16}\$[A-Za-z0-9./]{1,86}\$[A-Za-z0-9./]{43}"),
    ("password-hash", "$argon2id$ $argon2i$ $argon2d$", r"(?:v=[0-9]{1,3}\$)?m=[0-9]{1,9},t=[0-9]{1,4},p=[0-9]{1,4}\$[A-Za-z0-9+/]{8,128}\$[A-Za-z0-9+/]{16,128}"),
    ("password-hash", "$pbkdf2-sha256$ $pbkdf2-sha512$ $pbkdf2$ $scrypt$", r"[A-Za-z0-9=,]{1,40}\$[A-Za-z0-9./+]{8,128}\$[A-Za-z0-9./+=]{20,128}"),
    ("password-hash", "pbkdf2_sha256$ pbkdf2_sha1$ pbkdf2:sha256: pbkdf2:sha512: scrypt:", r"[0-9:]{3,20}\$[A-Za-z0-9./+]{6,128}\$[A-Za-z0-9./+=]{27,200}"),
    ("password-hash", "{SHA} {SSHA} {SSHA256} {SSHA512} {SHA256} {SHA512}", "[A-Za-z0-9+/]{26,140}={0,2}"),
    # Keys of people
    ("age-key", "AGE-SECRET-KEY-1", "[A-Z0-9]{50,64}"),
    ("nostr-key", "nsec1", f"{N}{{50,64}}"),
    ("wallet-key", "xprv yprv zprv tprv", f"{A}{{100,112}}"),
    ("private-key", "LS0tLS1CRUdJTiBQUklWQVRF LS0tLS1CRUdJTiBSU0Eg LS0tLS1CRUdJTiBFQyBQ LS0tLS1CRUdJTiBPUEVOU1NI LS0tLS1CRUdJTiBEU0Eg LS0tLS1CRUdJTiBFTkNSWVBURU", "[A-Za-z0-9+/=]{20,16384}"),
    ("private-key", "b3BlbnNzaC1rZXktdjE", f"{B}{{60,16384}}"),
    ("jwt", "eyJhbGciOi eyJ0eXAiOi eyJraWQiOi eyJlbmMiOi eyJjdHkiOi eyJ4NX", r"[A-Za-z0-9_-]{4,4096}\.[A-Za-z0-9_-]{4,8192}(?:\.[A-Za-z0-9_-]{0,4096}){0,3}"),
    ("jwt", "eyJ ewog ewoJ eyAi", r"[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{4,8192}(?:\.[A-Za-z0-9_-]{0,4096}){0,3}"),
)  # fmt: skip
"""Rule, prefixes, what follows. The first of two rules that match the same text gives the name."""

_DISTINCT = frozenset(
    [
        "github-token",
        "gitlab-token",
        "npm-token",
        "pypi-token",
        "slack-token",
        "anthropic-key",
        "openai-key",
        "stripe-key",
        "huggingface-token",
        "google-oauth-secret",
        "docker-token",
        "digitalocean-token",
        "shopify-token",
    ]
)
"""Rules whose prefixes are no part of any word, so that they count within a longer one too."""
_MARKLESS = (
    "AGE-SECRET-KEY-1",
    "AIza",
    "AKIA",
    "eyJhbGciOi",
    "eyJ0eXAiOi",
    "eyJraWQiOi",
    "eyJlbmMiOi",
    "eyJ4NX",
)
"""Prefixes without `_` or `-` behind them that count within a longer word too."""
_AFTER_MARK = ("ASIA", "ABIA", "ACCA", "SG.", "eyJ")
"""Prefixes that count within a longer word only behind a digit, `_` or `-`: words hold them."""
_SHORTEST_WITHIN = 24
"""The shortest word that has a token behind its beginning."""
_CAPITALS_ALONE = frozenset({"aws-access-key"})
"""Rules whose tokens may be capitals without a digit: their length tells them from words."""
SHORTEST = 14
"""The shortest word that can hold a token."""
_WORDLIKE = (
    "api- API- sdk- mob- srv- secret- secret_ console- key- key_ test_ live_ sandbox_ test_pub_ "
    "live_pub_ sess- perm- ext_ pat. sat. ser. secret-live- secret-test- api_org_ st. LT_"
)
_WORDS = frozenset(_WORDLIKE.split())
"""Prefixes that are words: behind a mark they are parts of names."""
_JOINTS = str.maketrans("_-.", "   ")
_JOINTS_OF_WORDS = frozenset("_-.")
_SHAPES = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "a" * 52 + "0" * 10
)
_NO_DIGITS = str.maketrans("", "", "0123456789")
_SHORTEST_PART = 4
_LONGEST_SEGMENT = 48
_BASE64 = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/="
_TOKEN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_MARKS = "\"'`=:,;()[]{}<>@&?|\\/#$%*+^~\t"
_MARKS_IN = frozenset(_MARKS)
_TO_BLANKS = str.maketrans(_MARKS, " " * len(_MARKS))
_ESCAPES = ("%3D", "%3A", "%22", "%20", "%26", "%2F", "%3d", "%3a", "%2f")


_HEADS: dict[str, list[tuple[int, str]]] = {}
"""Rules and prefixes by the first three characters of a prefix, or all two."""
_OTHERS: dict[str, list[tuple[int, str]]] = {}
"""Those whose prefix holds a mark, by that."""
_WITHIN: list[tuple[int, str]] = []
"""Those that count within a word."""
_ANYWHERE: list[tuple[int, str]] = []
"""Those that count anywhere."""


def _sort_prefixes() -> None:
    """Fill the tables; every hook does so, which is why it is done in one pass."""
    anywhere = frozenset((*_MARKLESS, *_AFTER_MARK))
    for at, (name, prefixes, _tail_pattern) in enumerate(TOKENS):
        is_distinct = name in _DISTINCT
        for prefix in prefixes.split():
            placed = (at, prefix)
            if prefix.isidentifier() or _MARKS_IN.isdisjoint(prefix):
                _HEADS.setdefault(prefix[:3], []).append(placed)
            else:
                mark = next(char for char in prefix if char in _MARKS)
                _OTHERS.setdefault(mark, []).append(placed)
            is_marked = prefix[-1] in "_-." and len(prefix) > 2
            if is_marked and (is_distinct or prefix not in _WORDS):
                _WITHIN.append(placed)
            if is_distinct and is_marked:
                _distinct.append(prefix)
            if prefix in anywhere:
                _ANYWHERE.append(placed)


_distinct: list[str] = []
_sort_prefixes()
_STARTS = frozenset(_HEADS)
_PREFIXES_WITHIN = frozenset((*_MARKLESS, *_distinct))
_BY_TAIL: dict[str, list[tuple[int, str]]] = {}
"""These prefixes by up to three characters of their last part."""
for _prefix in _WITHIN:
    _BY_TAIL.setdefault(_prefix[1][:-1].translate(_JOINTS).split()[-1][-3:], []).append(_prefix)
_TAILS = frozenset(_BY_TAIL)


def tokens_in(words: str) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Return the rules, by their place in the table, of which words hold a prefix, and which.

    There are hundreds of prefixes, and a search for each would take most of the time; a look-up
    of how each word begins takes little.
    """
    present = {
        prefix
        for mark, prefixes in _OTHERS.items()
        if mark in words
        for prefix in prefixes
        if prefix[1] in words
    }
    present.update(prefix for prefix in _ANYWHERE if prefix[1] in words)
    within_words: set[str] = set()
    mixed = " ".join([w for w in words.split() if len(w) >= _SHORTEST_WITHIN and _is_mixed(w)])
    if mixed:
        parts = mixed.translate(_JOINTS).split()
        tails = {part[-3:] for part in parts} | {part[-2:] for part in parts}
        within = [prefix for tail in _TAILS.intersection(tails) for prefix in _BY_TAIL[tail]]
        present.update(prefix for prefix in within if prefix[1] in mixed)
        within_words = {part[:3] for part in parts if len(part) > _SHORTEST_PART}
    if not words.isascii():  # then quotes and dashes may stand before a token, and no letters
        words = words.encode("ascii", "replace").decode("ascii")
    if "\\" in words:
        words = words.replace("\\n", " ").replace("\\r", " ").replace("\\t", " ")
    if "%" in words:
        for escape in _ESCAPES:
            words = words.replace(escape, " ")
    starts = within_words.union([part[:3] for part in words.translate(_TO_BLANKS).split()])
    heads = _STARTS.intersection(starts) | _STARTS.intersection([start[:2] for start in starts])
    present.update([prefix for head in heads for prefix in _HEADS[head] if prefix[1] in words])
    by_rule: dict[int, list[str]] = {}
    for at, prefix in sorted(present):
        by_rule.setdefault(at, []).append(prefix)
    return tuple([(at, tuple(prefixes)) for at, prefixes in by_rule.items()])


def _is_mixed(word: str) -> bool:
    """Say whether a word has small letters and capitals, or as many digits as hex has."""
    return not (word.islower() or word.isupper()) or len(word) - len(word.translate(_NO_DIGITS)) > 5


def words_with(parts: Iterable[str], searched: str, words: str) -> set[str]:
    """Return the words that hold one of some parts; what is searched is words in any case."""
    holding: set[str] = set()
    for part in parts:
        at = searched.find(part)
        while at >= 0:
            end = words.find(" ", at)
            if end < 0:
                holding.add(words[words.rfind(" ", 0, at) + 1 :])
                break
            holding.add(words[words.rfind(" ", 0, at) + 1 : end])
            at = searched.find(part, end)
    return holding


def begins_word(text: str, at: int, prefix: str) -> bool:
    """Say whether a word begins here; an escape such as `\\n` or `%3D` may stand before it."""
    before = text[at - 1] if at else ""
    if before == "/" and prefix.isalnum():
        return _is_path(text[max(0, at - _LONGEST_SEGMENT) : at])
    if before == "+" and prefix.isalnum():
        return False
    if not before.isalnum() or prefix in _PREFIXES_WITHIN:
        return True
    if before.isdigit() and prefix in _AFTER_MARK:
        return True
    if before in "nrt" and text[at - 2 : at - 1] == "\\":
        return True
    return at > 2 and text[at - 3] == "%"


def _is_path(before: str) -> bool:
    """Say whether what ends in `/` is the beginning of a path, and not the middle of some base64."""
    return len(before) < _LONGEST_SEGMENT or before.strip(_BASE64) != "" or before[-3:] == "://"


def is_within(text: str, at: int, prefix: str) -> bool:
    """Say whether a token stands behind a mark in a word, where it has to look random."""
    return text[at - 1 : at] in _JOINTS_OF_WORDS and prefix not in _PREFIXES_WITHIN


def is_by_chance(tail: str) -> bool:
    """Say whether letters and digits follow each other as in no name: `embeddings_v2` has one."""
    shape = tail[:64].translate(_SHAPES)
    return shape.count("a0") + shape.count("0a") > 3 or looks_random(tail[:40], 8)


def goes_on(text: str, at: int) -> bool:
    """Say whether what stands here is long enough for a token, before any pattern is compiled."""
    return len("".join(text[at : at + 10].split())) == 10


def is_token(tail: str, rule: str) -> bool:
    """Say whether what follows a prefix is random: no word, and no `xxxxxxxx` of a manual."""
    start = tail[:128]
    if len(set(start)) < 6:
        return False
    if rule in _CAPITALS_ALONE:
        return True
    mixed = start.lower() != start and start.upper() != start
    return mixed or any(digit in start for digit in "0123456789")


def end_of_token(text: str, at: int) -> int:
    """Return where a token ends that is longer than its rule expects, or without its last stop."""
    if text[at - 1] in ".,:;":
        return at - 1
    while text[at - 1].isalnum() and (run := _run(text, at)):
        at += run
    return at


def _run(text: str, at: int) -> int:
    near = text[at : at + 256]
    return len(near) - len(near.lstrip(_TOKEN))


SHORTEST_ENCODED = 28
"""The shortest word that is looked at: base64 of a shorter one holds no token."""
_LONGEST_ENCODED = 65_536
_HEX = "0123456789abcdefABCDEF"
_FIRSTS = "abcdefABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Of four characters in base64 of ASCII the first has half of all values."""
_ENCODED_HEAD, _MOST_CUT = 64, 3
"""Of base64 so much is looked at first; a cut may leave a part of a letter."""
_AROUND_WORDS = "\"'`=:,;()[]{}<>@&?|\\#$%*^~.!\t\n\r"
_WORDS_ALONE = str.maketrans(_AROUND_WORDS, " " * len(_AROUND_WORDS))
_LINE_ENDS = str.maketrans("", "", "\n\t\r")


def encoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where the words of a text are base64 or hex of plain text, and what they say."""
    longest = [word for word in text.split() if len(word) >= SHORTEST_ENCODED]
    words = " ".join(longest).translate(_WORDS_ALONE).split() if longest else []
    if not any(_plain(word) for word in words if len(word) >= SHORTEST_ENCODED):
        return
    at = 0
    for long in longest:
        at = text.find(long, at)
        for word in long.translate(_WORDS_ALONE).split():
            if len(word) >= SHORTEST_ENCODED and (plain := _plain(word)):
                at = text.find(word, at)
                end = at + len(word)
                while text[end : end + 1] == "=":
                    end += 1
                yield at, end, plain


def _plain(word: str) -> str:
    """Return what a word says in base64 or hex, empty where that is no text."""
    if len(word) > _LONGEST_ENCODED:
        return ""
    if len(word) % 2 == 0 and not word.strip(_HEX):
        return _text_of(bytes.fromhex(word))
    if word.isalpha() or word.lower() == word or word.upper() == word:
        return ""  # base64 of a token has small letters and capitals
    import binascii

    standard = word.replace("-", "+").replace("_", "/")
    try:
        head = standard[: min(_ENCODED_HEAD, len(word) // 4 * 4)]
        if word[::4].strip(_FIRSTS) and not _text_of(binascii.a2b_base64(head)):
            return ""
        data = binascii.a2b_base64(standard + "=" * (-len(standard) % 4))
    except ValueError:
        return ""
    return _text_of(data)


def _text_of(data: bytes) -> str:
    """Return bytes as the text they are, empty where they are none."""
    text = data.decode("utf-8", "ignore")
    if len(text.encode()) < len(data) - _MOST_CUT:
        return ""
    shown = text.translate(_LINE_ENDS).replace("\x1b", "")
    return text if shown.isprintable() else ""
